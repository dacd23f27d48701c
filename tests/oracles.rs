//! Every algorithm against its rational model.

use crate::limiters::{Attempt, any_limiter, at, attempts, limiter_and_attempts, scale};
use crate::oracle::Oracle;
use proptest::prelude::*;
use rlsim::limiter::{Costs, KeyId, LimiterSpec, Rows, Verdicts, Workload};

const KEY: KeyId = KeyId(0);

/// What is truly known of these attempts.
fn workload(attempts: &[Attempt]) -> Workload {
    let first = attempts.first().expect("not empty").at;
    let last = attempts.last().expect("not empty").at;
    Workload { unit_cost: attempts.iter().all(|a| a.cost <= 1), times: (at(first), at(last)), debt: false }
}

fn agrees(spec: &LimiterSpec, attempts: &[Attempt], workload: &Workload) {
    let mut oracle = Oracle::new(spec);
    let mut limiter = spec.build(workload);
    for (i, attempt) in attempts.iter().enumerate() {
        let expected = oracle.decide(attempt.at, attempt.cost);
        let asked = limiter.ask(KEY, at(attempt.at), attempt.cost);
        let decided = limiter.decide(KEY, at(attempt.at), attempt.cost);
        assert_eq!((asked, decided), (expected, expected), "attempt {i} {attempt:?} of {attempts:?} under {spec:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_decision_is_the_rational_one((spec, attempts) in limiter_and_attempts()) {
        agrees(&spec, &attempts, &workload(&attempts));
    }

    #[test]
    fn the_wide_forms_decide_alike((spec, attempts) in limiter_and_attempts()) {
        agrees(&spec, &attempts, &Workload::UNKNOWN);
    }

    #[test]
    fn a_batch_is_its_attempts_one_by_one(
        (spec, attempts) in any_limiter().prop_flat_map(|spec| {
            let gap = scale(&spec);
            (Just(spec), prop::collection::vec(attempts(gap, 10), 1..4))
        })
    ) {
        // Several keys interleaved by time.
        let mut rows: Vec<(i64, u32, u64)> = attempts
            .iter()
            .enumerate()
            .flat_map(|(key, list)| list.iter().map(move |a| (a.at, key as u32, a.cost)))
            .collect();
        rows.sort_by_key(|row| row.0);
        let mut oracles: Vec<Oracle> = attempts.iter().map(|_| Oracle::new(&spec)).collect();
        let mut expected = Verdicts::default();
        for (at, key, cost) in &rows {
            expected.push(oracles[*key as usize].decide(*at, *cost));
        }
        // Keys are numbered by first appearance.
        let mut order: Vec<u32> = Vec::new();
        for (_, key, _) in &rows {
            if !order.contains(key) {
                order.push(*key);
            }
        }
        let ids: Vec<KeyId> =
            rows.iter().map(|r| KeyId(order.iter().position(|k| *k == r.1).expect("seen") as u32)).collect();
        let times: Vec<_> = rows.iter().map(|r| at(r.0)).collect();
        let costs: Vec<u64> = rows.iter().map(|r| r.2).collect();
        let mut verdicts = Verdicts::default();
        let rows = Rows { at: &times, key: &ids, cost: Costs::Each(&costs) };
        spec.build(&Workload::UNKNOWN).decide_batch(rows, &mut verdicts);
        prop_assert_eq!(verdicts, expected);
    }
}
