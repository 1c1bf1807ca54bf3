import type { Approval } from '#shared/rpc/methods/approvals.ts';
import { answerTo, canAsk } from './ask.ts';
import type { Conversation, Hearing } from './conversation.ts';
import { note, paint, shown, shownLine, terminalWidth } from './output.ts';
import { WordWrap } from './word-wrap.ts';

/** How long a word waits for its end. */
const HELD_MS = 100;

/** Prints a reply as it comes, with a line break after it. Control characters are escaped unless it is `raw`. */
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
    // Half of a character waits for its other half.
    this.#held = /[\ud800-\udbff]$/.test(all) ? all.slice(-1) : '';
    this.#put(this.#held === '' ? all : all.slice(0, -1));
  }

  /** Begins a line, where one is begun. */
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
    // Who stops within a word is not waited for.
    this.#late = setTimeout(() => this.#write(this.#wrap.rest()), HELD_MS);
  }
}

/** What a terminal, or a pipe, is told while a reply comes. `onInterrupt`: Ctrl+C at a question. */
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
      // One after the other: there is one keyboard.
      questions = questions.then(() => decide(conversation, approval, signal, onInterrupt));
    },
  };
}

async function decide(conversation: Conversation, approval: Approval, signal: AbortSignal, onInterrupt: () => void): Promise<void> {
  if (signal.aborted) return;
  // A command's summary is the whole command; of another tool it is the name.
  const args = approval.requestId === undefined ? [shown(JSON.stringify(approval.args, null, 2))] : [];
  const what = [paint('yellow', shown(approval.summary), process.stderr), ...args].join('\n');
  const question = `${what}\nAllow this? [y]es, [a]lways, [N]o: `;
  let answer: string;
  try {
    answer = (await answerTo(question, signal)).trim().toLowerCase();
  } catch {
    // Withdrawn, for it was decided elsewhere; else Ctrl+C or Ctrl+D.
    return signal.aborted ? undefined : onInterrupt();
  }
  const always = /^a(lways)?$/.test(answer);
  const decision = always || /^y(es)?$/.test(answer) ? 'approve' : 'deny';
  await conversation
    .resolve(approval.id, decision, always)
    .catch((error: Error) => note(paint('red', shownLine(error.message), process.stderr)));
}
