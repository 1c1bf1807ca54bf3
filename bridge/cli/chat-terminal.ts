import { createInterface } from 'node:readline';
import { printReplyEvents, ReplyPrinter } from './reply-printer.ts';
import type { Conversation } from './conversation.ts';
import { CommandError } from './command-error.ts';
import { colorize, printLine, escapeToOneLine } from './terminal-output.ts';

/** Pasted lines arrive together and form one message. */
const PASTE_MS = 30;

type ChatInput = { text: string } | 'interrupt' | 'end';

/** Runs a conversation on a terminal until Ctrl+D, or Ctrl+C twice. */
export async function runConversation(conversation: Conversation, printing: { raw: boolean }): Promise<void> {
  await conversation.connect();
  const { agentId, sessionId } = conversation.talk;
  printLine(colorize('dim', `${agentId}/${sessionId}. Ctrl+C stops a reply. Press it twice, or Ctrl+D, to exit.`));
  let history: string[] = [];
  // Number of interrupts since the last message.
  let interrupts = 0;
  // At the prompt Ctrl+C is a key. Between prompts it must not end the process.
  const between = (): void => void interrupts++;
  process.on('SIGINT', between);
  try {
    for (;;) {
      const line = interrupts > 1 ? 'end' : await readMessage(history, (entries) => (history = entries));
      if (line === 'end') return;
      if (line === 'interrupt') {
        if (++interrupts === 1) printLine(colorize('dim', 'Press Ctrl+C again to exit'));
        continue;
      }
      interrupts = 0;
      if (line.text.trim() === '') continue;
      process.off('SIGINT', between);
      if ((await printReply(conversation, line.text, printing)) === 'leave') return;
      process.on('SIGINT', between);
    }
  } finally {
    process.off('SIGINT', between);
  }
}

/** Reads a message, typed or pasted over several lines. Restores the terminal afterwards, so that Ctrl+C is a signal during a reply. */
function readMessage(history: readonly string[], remember: (entries: string[]) => void): Promise<ChatInput> {
  const reader = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: true,
    prompt: `${colorize(['bold', 'cyan'], '›')} `,
    history: [...history],
    removeHistoryDuplicates: true,
  });
  return new Promise((resolve) => {
    const lines: string[] = [];
    let timer: NodeJS.Timeout | undefined;
    const end = (line: ChatInput): void => {
      clearTimeout(timer);
      reader.off('close', onend);
      reader.close();
      resolve(line);
    };
    const onend = (): void => {
      process.stdout.write('\n');
      end('end');
    };
    reader.on('history', remember);
    reader.on('line', (text) => {
      lines.push(text);
      clearTimeout(timer);
      timer = setTimeout(() => {
        // A last line without a line break is still being typed.
        if (reader.line === '') end({ text: lines.join('\n') });
      }, PASTE_MS);
    });
    reader.on('SIGINT', () => {
      process.stdout.write('\n');
      end('interrupt');
    });
    reader.on('close', onend);
    reader.prompt();
  });
}

/** Prints one reply. The first Ctrl+C ends the reply, a second one the conversation. Errors are printed and do not end the conversation. */
async function printReply(conversation: Conversation, message: string, printing: { raw: boolean }): Promise<'leave' | 'stay'> {
  const leaving = Promise.withResolvers<'leave'>();
  let interrupts = 0;
  const stop = (): void => {
    if (++interrupts > 1) leaving.resolve('leave');
    else conversation.abort().catch((error: Error) => printLine(colorize('red', escapeToOneLine(error.message))));
  };
  process.on('SIGINT', stop);
  const printer = new ReplyPrinter((piece) => void process.stdout.write(piece), printing);
  const runTurn = async (): Promise<'stay'> => {
    try {
      await conversation.send(message, printReplyEvents(conversation, printer, stop));
      printer.end();
    } catch (error) {
      printer.end();
      if (!(error instanceof CommandError)) throw error;
      printLine(interrupts > 0 ? colorize('yellow', 'Stopped') : colorize('red', escapeToOneLine(error.message)));
    }
    return 'stay';
  };
  try {
    return await Promise.race([runTurn(), leaving.promise]);
  } finally {
    process.off('SIGINT', stop);
  }
}
