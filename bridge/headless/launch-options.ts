/** Options that prevent the browser's own network requests. */
export const QUIET_ARGS = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/**
 * Gives each site its own process, so that a busy or hostile frame can't block the page. Default in full browsers, but not in headless
 * shells.
 */
export const SITE_ISOLATION_ARG = '--site-per-process';

/**
 * Timeout for a start in milliseconds. A warm start takes half a second; the first one reads some 300 MB, which takes tens of seconds on a
 * slow disk.
 */
export const START_MS = 60_000;

/**
 * Launch options for an unattended Chromium: it makes no network requests of its own, and ends when this process does. `args`: additional
 * arguments.
 */
export const createUnattendedOptions = (executable: string, args: readonly string[]) => ({
  executablePath: executable,
  headless: true,
  // Chromium's sandbox does not run as root.
  chromiumSandbox: process.getuid?.() !== 0,
  args: [...QUIET_ARGS, ...args],
  // Hide Perch's own variables from it.
  env: Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined && !/^PERCH_/i.test(entry[0])),
  ),
  handleSIGINT: false,
  handleSIGTERM: false,
  handleSIGHUP: false,
});
