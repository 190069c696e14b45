//! Gives the task to the agent program that its arguments name and reports what it changed.
//! Without arguments it does the smallest job itself: a line in the first file of the scope.
use std::collections::BTreeSet;
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::process::Command;
use std::{env, iter};

fn main() -> Result<(), Box<dyn Error>> {
    let before = changed()?;
    let args: Vec<String> = env::args().skip(1).collect();
    if let Some((agent, rest)) = args.split_first() {
        let prompt = File::open(env::var("RELAY_PROMPT_PATH")?)?;
        // SIGTERM ends this program, and relay then ends the agent with it.
        let status = Command::new(agent).args(rest).stdin(prompt).status()?;
        if !status.success() {
            return Err(format!("{agent} ended with {status}").into());
        }
    } else {
        let task = fs::read_to_string(env::var("RELAY_TASK_PATH")?)?;
        let file = first_allowed(&task).ok_or("the task allows no file")?;
        writeln!(OpenOptions::new().append(true).create(true).open(file)?, "a line of the driver's own")?;
    }
    let after = changed()?;
    let files: Vec<String> = after.difference(&before).map(|file| quoted(file)).collect();
    let ran: Vec<String> = args.first().map(|agent| quoted(agent)).into_iter().collect();
    let result = format!(
        r#"{{"summary": {}, "files_intended": [{}], "commands_ran": [{}], "notes": []}}"#,
        quoted(&format!("The task of run {} is done.", env::var("RELAY_RUN_ID")?)),
        files.join(", "),
        ran.join(", ")
    );
    Ok(fs::write(env::var("RELAY_OUTPUT_PATH")?, result)?)
}

/// The files that git sees as changed.
fn changed() -> Result<BTreeSet<String>, Box<dyn Error>> {
    let out = Command::new("git").args(["status", "--porcelain", "-z", "--no-renames"]).output()?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into());
    }
    let text = String::from_utf8_lossy(&out.stdout);
    Ok(text.split('\0').filter_map(|entry| entry.get(3..)).map(String::from).collect())
}

/// The first name in the task's allowed_globs. A driver that reads more of the task takes serde_json.
fn first_allowed(task: &str) -> Option<&str> {
    task.split_once("\"allowed_globs\"")?.1.split('"').nth(1)
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    let inner = text.chars().flat_map(|c| -> Box<dyn Iterator<Item = char>> {
        match c {
            '"' | '\\' => Box::new(['\\', c].into_iter()),
            c if c < ' ' => Box::new(format!("\\u{:04x}", c as u32).chars().collect::<Vec<_>>().into_iter()),
            c => Box::new(iter::once(c)),
        }
    });
    format!("\"{}\"", inner.collect::<String>())
}
