import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Reason why terminal tests can't run here; undefined if they can. */
export const missingTmux: string | undefined = (() => {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'tmux is not installed';
  }
})();

/** tmux 3.3 sometimes loses a program's exit code, so the shell prints it. Ctrl+C must not end that shell. */
const SHELL = `trap : INT; "$@"; echo "[ended $?]"; read _`;
const EXIT_MARKER = /\n?\[ended (\d+)\]\n?/;

export interface TerminalOptions {
  command: readonly [string, ...string[]];
  env?: Readonly<Record<string, string>>;
  columns?: number;
  rows?: number;
}

/** A program running in a real terminal. */
export interface Terminal extends AsyncDisposable {
  /** Types a text as it is. */
  type(text: string): Promise<void>;
  /** Presses keys by tmux's names: `Enter`, `C-c`, `C-d`, `Up`. */
  press(...keys: string[]): Promise<void>;
  /** All output, without trailing blanks; lines wrapped by the terminal are joined. */
  text(): Promise<string>;
  /** All output as wrapped by the terminal. */
  lines(): Promise<string[]>;
  /** All output, with its colours as escape sequences. */
  readStyled(): Promise<string>;
  /** Resolves when the text matches; rejects with the visible text after ten seconds. */
  waitForText(expected: string | RegExp): Promise<void>;
  /** Resolves with the exit code. */
  waitForExit(): Promise<number>;
}

/** Starts a program in a terminal of a separate tmux server, which ends with it. */
export async function openTerminal({ command, env = {}, columns = 80, rows = 24 }: TerminalOptions): Promise<Terminal> {
  const socket = `perch-${process.pid}-${randomUUID().slice(0, 8)}`;
  const clean = {
    ...process.env,
    TERM: 'xterm-256color',
    TMUX: undefined,
    CI: undefined,
    FORCE_COLOR: undefined,
    NO_COLOR: undefined,
    ...env,
  };
  const tmux = async (...args: string[]): Promise<string> => (await run('tmux', ['-L', socket, ...args], { env: clean })).stdout;
  await tmux(
    ...['-f', '/dev/null', 'start-server', ';', 'set-option', '-g', 'history-limit', '5000', ';'],
    ...['new-session', '-d', '-x', String(columns), '-y', String(rows), '--', 'sh', '-c', SHELL, 'sh', ...command],
  );
  const capturePane = (...options: string[]): Promise<string> => tmux('capture-pane', '-p', '-S', '-', ...options);
  const captureText = async (...options: string[]): Promise<string> =>
    (await capturePane(...options)).replace(EXIT_MARKER, '').replace(/ +$/gm, '');
  const text = (): Promise<string> => captureText('-J');
  const waitFor = async <T>(find: () => Promise<T | undefined>, label: string): Promise<T> => {
    const end = Date.now() + 10_000;
    for (;;) {
      const found = await find();
      if (found !== undefined) return found;
      if (Date.now() > end) throw new Error(`${label} did not come; the terminal shows:\n${await capturePane('-J')}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return {
    type: async (typed) => void (await tmux('send-keys', '-l', '--', typed)),
    press: async (...keys) => void (await tmux('send-keys', ...keys)),
    text,
    lines: async () => (await captureText()).trimEnd().split('\n'),
    readStyled: () => captureText('-e', '-J'),
    waitForText: (expected) =>
      waitFor(async () => {
        const screenText = await text();
        return (typeof expected === 'string' ? screenText.includes(expected) : expected.test(screenText)) ? true : undefined;
      }, String(expected)).then(() => {}),
    waitForExit: () =>
      waitFor(async () => {
        const found = EXIT_MARKER.exec(await capturePane('-J'));
        return found ? Number(found[1]) : undefined;
      }, 'the end'),
    async [Symbol.asyncDispose]() {
      await tmux('kill-server').catch(() => {});
    },
  };
}
