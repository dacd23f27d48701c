//! The numbers under which a lane's limiter knows keys.

use crate::limiter::KeyId;
use crate::time::SimTime;

/// How a limiter's own numbers of keys come about.
#[derive(Clone, Debug)]
pub enum Ids {
    /// They are the column's.
    Same,
    /// By first appearance before the limiter.
    Renumber(Renumber),
    /// A number for each key and window of the clock, as a store's counters are named.
    Windows(Windows),
}

/// Keys that the limiter has met, numbered by first appearance before it.
#[derive(Clone, Debug, Default)]
pub struct Renumber {
    ids: Vec<u32>,
    next: u32,
}

/// Counters of a store that are named by key and window: clocks that differ see several.
#[derive(Clone, Debug)]
pub struct Windows {
    window: i64,
    most: usize,
    /// For each key its windows, the newest first.
    live: Vec<Vec<(i64, u32)>>,
    next: u32,
}

/// Windows of a key that live at a time beside those that clocks are apart: operations may be late.
const LIVE: usize = 8;

impl Windows {
    /// Counters of windows of this length, on clocks that are at most so far apart.
    pub fn new(window: i64, apart: u64) -> Self {
        let most = LIVE + usize::try_from(apart / window.cast_unsigned()).unwrap_or(usize::MAX - LIVE);
        Self { window, most, live: Vec::new(), next: 0 }
    }

    pub fn forget(&mut self) {
        (self.live, self.next) = (Vec::new(), 0);
    }

    fn index(&self, at: SimTime) -> i64 {
        at.nanos().div_euclid(self.window)
    }
}

impl Ids {
    /// The number of a key at an instant, and whether what was counted under it is of the past.
    pub fn id(&mut self, key: KeyId, at: SimTime) -> (KeyId, bool) {
        match self {
            Self::Same => (key, false),
            Self::Renumber(known) => {
                if key.index() >= known.ids.len() {
                    known.ids.resize(key.index() + 1, u32::MAX);
                }
                let id = &mut known.ids[key.index()];
                if *id == u32::MAX {
                    *id = known.next;
                    known.next += 1;
                }
                (KeyId(*id), false)
            }
            Self::Windows(known) => {
                let index = known.index(at);
                if key.index() >= known.live.len() {
                    known.live.resize(key.index() + 1, Vec::new());
                }
                let live = &mut known.live[key.index()];
                if let Some((_, id)) = live.iter().find(|(window, _)| *window == index) {
                    return (KeyId(*id), false);
                }
                let oldest = live.last().filter(|_| live.len() == known.most).copied();
                let (id, stale) = match oldest {
                    Some((window, id)) if window > index => return (KeyId(id), false),
                    Some((_, id)) => {
                        live.pop();
                        (id, true)
                    }
                    None => {
                        known.next += 1;
                        (known.next - 1, false)
                    }
                };
                let place = live.partition_point(|(window, _)| *window > index);
                live.insert(place, (index, id));
                (KeyId(id), stale)
            }
        }
    }

    /// The number of a key at an instant, if it has one; else one that no key has.
    pub fn known(&self, key: KeyId, at: SimTime) -> KeyId {
        match self {
            Self::Same => key,
            Self::Renumber(known) => KeyId(known.ids.get(key.index()).copied().unwrap_or(u32::MAX)),
            Self::Windows(known) => {
                let index = known.index(at);
                let live = known.live.get(key.index()).into_iter().flatten();
                KeyId(live.clone().find(|(window, _)| *window == index).map_or(u32::MAX, |(_, id)| *id))
            }
        }
    }
}
