#!/usr/bin/env node
// Gives the task to the agent program that its arguments name and reports what it changed.
// Without arguments it does the smallest job itself: a line in the first file of the scope.
import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, openSync, readFileSync, writeFileSync } from "node:fs";

interface Task {
  intent: string;
  scope: { allowed_globs: string[] };
}

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: relay starts this program`);
  return value;
}

function changed(): string[] {
  const status = execFileSync("git", ["status", "--porcelain", "-z", "--no-renames"], { encoding: "utf8" });
  return status.split("\0").filter(Boolean).map((entry) => entry.slice(3));
}

function ask(agent: string, args: string[]): Promise<void> {
  const prompt = openSync(variable("RELAY_PROMPT_PATH"), "r");
  const child = spawn(agent, args, { stdio: [prompt, "inherit", "inherit"] });
  process.once("SIGTERM", () => {
    child.kill("SIGTERM");
    process.exit(143);
  });
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("exit", (code) => (code === 0 ? done() : failed(new Error(`${agent} ended with ${code}`))));
  });
}

const task: Task = JSON.parse(readFileSync(variable("RELAY_TASK_PATH"), "utf8"));
const before = new Set(changed());
const [agent, ...args] = process.argv.slice(2);
if (agent) {
  await ask(agent, args);
} else {
  appendFileSync(task.scope.allowed_globs[0], `${task.intent}\n`);
}
writeFileSync(
  variable("RELAY_OUTPUT_PATH"),
  JSON.stringify({
    summary: `Done: ${task.intent}`,
    files_intended: changed().filter((file) => !before.has(file)),
    commands_ran: agent ? [agent] : [],
    notes: [],
  }),
);
