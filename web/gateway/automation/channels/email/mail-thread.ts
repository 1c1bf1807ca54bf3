import { z } from '#shared/rpc/zod.ts';

/** Number of Message-IDs in `References`: the first, and the newest others. */
const MAX_REFERENCES = 20;

const mailThread = z.object({ key: z.string(), subject: z.string(), references: z.array(z.string()) });
/** Conversation, subject and earlier Message-IDs of a mail, which its reply repeats. Kept in `IncomingMessage.thread`. */
export type MailThread = z.infer<typeof mailThread>;

export const formatThread = (thread: MailThread): string => JSON.stringify(thread);

/** Undefined for a text that `formatThread` did not write. */
export function parseThread(text: string | undefined): MailThread | undefined {
  if (text === undefined) return undefined;
  try {
    return mailThread.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Shortens a list for `References` as RFC 5322 asks: the first one identifies the thread. */
export const limitReferences = (references: readonly string[]): string[] =>
  references.length <= MAX_REFERENCES ? [...references] : [...references.slice(0, 1), ...references.slice(1 - MAX_REFERENCES)];

/** Subject of a reply. */
export const toReplySubject = (subject: string): string =>
  /^\s*re\s*(\[\d+\])?:/i.test(subject) ? subject.trim() : `Re: ${subject.trim()}`.trim();
