import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import { promptText, isInteractive } from './prompt.ts';
import type { Conversation, ReplyEvents } from './conversation.ts';
import { printNote, colorize, escapeControls, escapeToOneLine, getTerminalWidth } from './terminal-output.ts';
import { WordWrap } from './word-wrap.ts';

/** Maximum time that an incomplete word is held back, in milliseconds. */
const MAX_HOLD_MS = 100;

/** Prints a reply as it arrives, followed by a line break. Escapes control characters unless `raw` is set. */
export class ReplyPrinter {
  readonly #write: (piece: string) => void;
  readonly #raw: boolean;
  readonly #wrap = new WordWrap(getTerminalWidth);
  #heldText = '';
  #last = '\n';
  #flushTimer: NodeJS.Timeout | undefined;

  constructor(write: (piece: string) => void, { raw = false }: { raw?: boolean } = {}) {
    this.#write = write;
    this.#raw = raw;
  }

  add(delta: string): void {
    const all = this.#heldText + delta;
    // Hold back a high surrogate until its low surrogate arrives.
    this.#heldText = /[\ud800-\udbff]$/.test(all) ? all.slice(-1) : '';
    this.#writeText(this.#heldText === '' ? all : all.slice(0, -1));
  }

  /** Ends the current line, if any. */
  end(): void {
    this.#writeText(this.#heldText);
    this.#heldText = '';
    if (this.#last !== '\n') this.#writeText('\n');
    clearTimeout(this.#flushTimer);
  }

  #writeText(piece: string): void {
    if (piece === '') return;
    this.#last = piece.slice(-1);
    clearTimeout(this.#flushTimer);
    this.#write(this.#wrap.add(this.#raw ? piece : escapeControls(piece)));
    // Print an incomplete word after a delay.
    this.#flushTimer = setTimeout(() => this.#write(this.#wrap.rest()), MAX_HOLD_MS);
  }
}

/** Prints a reply's events to a terminal or pipe. `onInterrupt`: called on Ctrl+C at a question. */
export function printReplyEvents(
  conversation: Conversation,
  printer: ReplyPrinter,
  onInterrupt: () => void = () => void conversation.abort(),
): ReplyEvents {
  let questions = Promise.resolve();
  return {
    text: (delta) => printer.add(delta),
    tool(name, args) {
      if (!process.stderr.isTTY) return;
      printer.end();
      printNote(colorize('dim', `· ${escapeToOneLine(`${name} ${JSON.stringify(args)}`)}`, process.stderr));
    },
    approval(approval, signal) {
      printer.end();
      if (!isInteractive()) return printNote(`Waiting for approval in the app: ${escapeToOneLine(approval.summary)}`);
      // One at a time, since there is one keyboard.
      questions = questions.then(() => promptApproval(conversation, approval, signal, onInterrupt));
    },
  };
}

async function promptApproval(conversation: Conversation, approval: Approval, signal: AbortSignal, onInterrupt: () => void): Promise<void> {
  if (signal.aborted) return;
  // A command's summary is the whole command; another tool's is its name.
  const args = approval.requestId === undefined ? [escapeControls(JSON.stringify(approval.args, null, 2))] : [];
  const description = [colorize('yellow', escapeControls(approval.summary), process.stderr), ...args].join('\n');
  const question = `${description}\nAllow this? [y]es, [a]lways, [N]o: `;
  let answer: string;
  try {
    answer = (await promptText(question, signal)).trim().toLowerCase();
  } catch {
    // The question was withdrawn because it was decided elsewhere, or the user pressed Ctrl+C or Ctrl+D.
    return signal.aborted ? undefined : onInterrupt();
  }
  const isAlways = /^a(lways)?$/.test(answer);
  const decision = isAlways || /^y(es)?$/.test(answer) ? 'approve' : 'deny';
  await conversation
    .resolve(approval.id, decision, isAlways)
    .catch((error: Error) => printNote(colorize('red', escapeToOneLine(error.message), process.stderr)));
}
