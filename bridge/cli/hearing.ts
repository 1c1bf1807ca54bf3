import type { Approval } from '#shared/rpc/methods/approvals.ts';
import { answerTo, canAsk } from './ask.ts';
import type { Conversation, Hearing } from './conversation.ts';
import { note, paint, shown, shownLine, terminalWidth } from './output.ts';
import { WordWrap } from './word-wrap.ts';

/** Maximum time that an incomplete word is held back, in milliseconds. */
const HELD_MS = 100;

/** Prints a reply as it arrives, followed by a line break. Escapes control characters unless `raw` is set. */
export class Printer {
  readonly #write: (piece: string) => void;
  readonly #raw: boolean;
  readonly #wrap = new WordWrap(terminalWidth);
  #held = '';
  #last = '\n';
  #late: NodeJS.Timeout | undefined;

  constructor(write: (piece: string) => void, { raw = false }: { raw?: boolean } = {}) {
    this.#write = write;
    this.#raw = raw;
  }

  add(delta: string): void {
    const all = this.#held + delta;
    // Hold back a high surrogate until its low surrogate arrives.
    this.#held = /[\ud800-\udbff]$/.test(all) ? all.slice(-1) : '';
    this.#put(this.#held === '' ? all : all.slice(0, -1));
  }

  /** Ends the current line, if any. */
  end(): void {
    this.#put(this.#held);
    this.#held = '';
    if (this.#last !== '\n') this.#put('\n');
    clearTimeout(this.#late);
  }

  #put(piece: string): void {
    if (piece === '') return;
    this.#last = piece.slice(-1);
    clearTimeout(this.#late);
    this.#write(this.#wrap.add(this.#raw ? piece : shown(piece)));
    // Print an incomplete word after a delay.
    this.#late = setTimeout(() => this.#write(this.#wrap.rest()), HELD_MS);
  }
}

/** Prints a reply's events to a terminal or pipe. `onInterrupt`: called on Ctrl+C at a question. */
export function hearing(conversation: Conversation, printer: Printer, onInterrupt: () => void = () => void conversation.abort()): Hearing {
  let questions = Promise.resolve();
  return {
    text: (delta) => printer.add(delta),
    tool(name, args) {
      if (!process.stderr.isTTY) return;
      printer.end();
      note(paint('dim', `· ${shownLine(`${name} ${JSON.stringify(args)}`)}`, process.stderr));
    },
    approval(approval, signal) {
      printer.end();
      if (!canAsk()) return note(`Waiting for approval in the app: ${shownLine(approval.summary)}`);
      // One at a time, since there is one keyboard.
      questions = questions.then(() => decide(conversation, approval, signal, onInterrupt));
    },
  };
}

async function decide(conversation: Conversation, approval: Approval, signal: AbortSignal, onInterrupt: () => void): Promise<void> {
  if (signal.aborted) return;
  // A command's summary is the whole command; another tool's is its name.
  const args = approval.requestId === undefined ? [shown(JSON.stringify(approval.args, null, 2))] : [];
  const what = [paint('yellow', shown(approval.summary), process.stderr), ...args].join('\n');
  const question = `${what}\nAllow this? [y]es, [a]lways, [N]o: `;
  let answer: string;
  try {
    answer = (await answerTo(question, signal)).trim().toLowerCase();
  } catch {
    // The question was withdrawn because it was decided elsewhere, or the user pressed Ctrl+C or Ctrl+D.
    return signal.aborted ? undefined : onInterrupt();
  }
  const always = /^a(lways)?$/.test(answer);
  const decision = always || /^y(es)?$/.test(answer) ? 'approve' : 'deny';
  await conversation
    .resolve(approval.id, decision, always)
    .catch((error: Error) => note(paint('red', shownLine(error.message), process.stderr)));
}
