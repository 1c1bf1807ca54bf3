/** So that it asks the network for nothing of its own accord. */
export const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Gives each site its own process, so that a busy or hostile frame cannot block the page. The default in full browsers, but not in headless shells. */
export const SITE_ISOLATION = '--site-per-process';

/** Milliseconds for a start. What is warm takes half a second; a first one reads some 300 MB, which takes a slow disk tens of seconds. */
export const START_MS = 60_000;

/** How a Chromium that nobody looks at is started: it asks the network for nothing of its own accord, and ends when we end it. `args`: what it gets beside that. */
export const unattended = (executable: string, args: readonly string[]) => ({
  executablePath: executable,
  headless: true,
  // Chromium's sandbox does not run as root (design.md, "Three hosts, one core").
  chromiumSandbox: process.getuid?.() !== 0,
  args: [...QUIET, ...args],
  // What is ours is none of its business.
  env: Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined && !/^PERCH_/i.test(entry[0])),
  ),
  handleSIGINT: false,
  handleSIGTERM: false,
  handleSIGHUP: false,
});
