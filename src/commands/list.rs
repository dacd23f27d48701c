//! `rlsim list`, `show`, `completions`, `man`.

use super::cli::{Cli, CompletionsArgs, ListArgs, ShowArgs, Topic};
use super::explain::{TRAFFIC, WORDS, algorithm_summary};
use super::output::stdout;
use super::topics::TOPICS;
use crate::error::Error;
use crate::limiter::LimiterSpec;
use crate::scenario::{EMBEDDED, Plan, ScenarioSource};
use clap::CommandFactory;

/// Lists what there is.
pub fn list(args: &ListArgs) -> Result<u8, Error> {
    let topics = match args.what {
        Some(topic) => vec![topic],
        None => vec![Topic::Scenarios, Topic::Papers, Topic::Algorithms, Topic::Traffic, Topic::Words, Topic::Topics],
    };
    let mut text = String::new();
    for topic in topics {
        if args.what.is_none() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(match topic {
                Topic::Scenarios => "scenarios (rlsim run NAME)\n",
                Topic::Papers => "papers (rlsim paper NAME)\n",
                Topic::Algorithms => "algorithms (rlsim explain NAME)\n",
                Topic::Traffic => "traffic (rlsim explain NAME)\n",
                Topic::Words => "words of the report (rlsim explain NAME)\n",
                Topic::Topics => "topics (rlsim explain NAME)\n",
            });
        }
        let entries: Vec<(String, String)> = match topic {
            Topic::Scenarios => {
                EMBEDDED.iter().map(|s| Ok((s.name.to_owned(), title(s.name)?))).collect::<Result<_, Error>>()?
            }
            Topic::Papers => super::paper::list()?,
            Topic::Algorithms => {
                LimiterSpec::NAMES.iter().map(|name| ((*name).to_owned(), algorithm_summary(name))).collect()
            }
            Topic::Traffic => TRAFFIC.iter().map(|(name, text)| ((*name).to_owned(), first_sentence(text))).collect(),
            Topic::Topics => TOPICS.iter().map(|topic| (topic.name.to_owned(), topic.summary.to_owned())).collect(),
            Topic::Words => WORDS.iter().map(|(name, text)| ((*name).to_owned(), first_sentence(text))).collect(),
        };
        let width = entries.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, summary) in entries {
            text.push_str(&format!("  {name:width$}  {summary}\n"));
        }
    }
    stdout(&text)?;
    Ok(0)
}

fn title(name: &str) -> Result<String, Error> {
    let source = ScenarioSource::load(name)?;
    Ok(Plan::new(&source, &[])?.title)
}

fn first_sentence(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    flat.split_once(". ").map_or(flat.clone(), |(first, _)| first.to_owned()).trim_end_matches('.').to_owned()
}

/// Prints an embedded scenario.
pub fn show(args: &ShowArgs) -> Result<u8, Error> {
    match crate::scenario::embedded(&args.name) {
        Some(scenario) => {
            stdout(scenario.text)?;
            Ok(0)
        }
        None => {
            let names: Vec<&str> = EMBEDDED.iter().map(|scenario| scenario.name).collect();
            Err(Error::usage(format!("no embedded scenario is named `{}`; there are {}", args.name, names.join(", "))))
        }
    }
}

/// Prints a completion script.
pub fn completions(args: &CompletionsArgs) -> Result<u8, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rlsim", &mut script);
    stdout(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

/// Prints the manual page.
pub fn man() -> Result<u8, Error> {
    let mut page = Vec::new();
    let to_memory = "writing to memory does not fail";
    clap_mangen::Man::new(Cli::command()).render(&mut page).expect(to_memory);
    for command in Cli::command().get_subcommands().filter(|command| command.get_name() != "help") {
        let page_of = clap_mangen::Man::new(command.clone());
        page.extend_from_slice(format!(".SH RLSIM {}\n", command.get_name().to_uppercase()).as_bytes());
        page_of.render_description_section(&mut page).expect(to_memory);
        page_of.render_synopsis_section(&mut page).expect(to_memory);
        page_of.render_options_section(&mut page).expect(to_memory);
    }
    stdout(&String::from_utf8_lossy(&page))?;
    Ok(0)
}
