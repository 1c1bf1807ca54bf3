import { text } from 'node:stream/consumers';
import { connectGateway, type ConnectionOptions } from './connect-gateway.ts';
import { Conversation } from './conversation.ts';
import { CommandError } from './command-error.ts';
import { printReplyEvents, ReplyPrinter } from './reply-printer.ts';
import { printJson } from './terminal-output.ts';

interface ChatOptions extends ConnectionOptions {
  timeout: number;
  session: string;
  agent: string;
  model?: string;
  json?: boolean;
  /** Print control characters of the reply unchanged. */
  raw?: boolean;
}

/** `perch chat`: sends one message from the arguments or a pipe; without either, on a terminal, starts a conversation. */
export async function chat(
  words: readonly string[],
  { session, agent, model, json = false, raw = false, ...options }: ChatOptions,
): Promise<void> {
  const target = { sessionId: session, agentId: agent, ...(model === undefined ? {} : { model }) };
  const dial = (): ReturnType<typeof connectGateway> => connectGateway({ ...options, name: 'perch chat', timeoutMs: options.timeout });
  const conversation = new Conversation(target, dial);
  try {
    if (words.length === 0 && process.stdin.isTTY && process.stdout.isTTY && !json) {
      const { runConversation } = await import('./chat-terminal.ts');
      return await runConversation(conversation, { raw });
    }
    const isPiped = words.length === 0 || (words.length === 1 && words[0] === '-');
    const message = isPiped ? (await text(process.stdin)).trimEnd() : words.join(' ');
    if (message.trim() === '') throw new CommandError('No message. Pass it as an argument or on standard input.', 2);
    await sendSingleMessage(conversation, message, { json, raw });
  } finally {
    conversation.close();
  }
}

/** Sends one message. The first Ctrl+C ends the reply, a second one the command. */
async function sendSingleMessage(
  conversation: Conversation,
  message: string,
  { json, raw }: { json: boolean; raw: boolean },
): Promise<void> {
  let interrupts = 0;
  const stop = (): void => {
    if (++interrupts > 1) process.exit(1);
    void conversation.abort();
  };
  process.on('SIGINT', stop);
  // The reader of the output is gone, so the rest is not needed.
  process.stdout.once('error', stop);
  const printer = new ReplyPrinter(json ? () => {} : (piece) => void process.stdout.write(piece), { raw });
  try {
    const reply = await conversation.send(message, printReplyEvents(conversation, printer));
    printer.end();
    if (json) printJson(reply);
  } catch (error) {
    printer.end();
    throw error;
  } finally {
    process.off('SIGINT', stop);
  }
}
