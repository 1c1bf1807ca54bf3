import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { platformFault } from './platform-fault.ts';
import { definePort } from './port.ts';

/** Larger mails are read up to this size, without their last attachments. */
export const MAX_MAIL_BYTES = 15 * 1024 * 1024;

const address = z.string().min(3).max(320);
const messageId = z.string().min(3).max(1000);

const mailServer = z.object({
  host: z.string().min(1).max(255),
  port: z.number().int().min(1).max(65_535),
  /** `tls`: from the first byte. `starttls`: required before signing in, unless the server is on this computer. */
  security: z.enum(['tls', 'starttls']),
  user: z.string().min(1).max(320),
  /** Password, or an OAuth 2.0 access token for `xoauth2`. */
  secret: z.string().min(1).max(8192),
  method: z.enum(['password', 'xoauth2']),
});
export type MailServer = z.infer<typeof mailServer>;

/** Read position in a folder: UIDs are only comparable while UIDVALIDITY is the same (RFC 3501, section 2.3.1.1). */
export const mailPosition = z.object({
  uidValidity: z.string(),
  uidNext: z.number().int().min(1),
  /** Newest time of arrival, in milliseconds since the Unix epoch: where to continue if UIDVALIDITY changes. */
  newestAt: z.number(),
  /** Mails that arrived earlier are skipped: set when UIDVALIDITY has changed, since all UIDs are new then. */
  notBefore: z.number(),
});
export type MailPosition = z.infer<typeof mailPosition>;

const outgoingMail = z.object({
  messageId,
  from: z.object({ name: z.string().max(200), address }),
  to: address,
  subject: z.string().max(998),
  /** Time of the mail, in milliseconds since the Unix epoch. */
  date: z.number(),
  inReplyTo: messageId.optional(),
  references: z.array(messageId).max(50),
  /** Value of `Auto-Submitted` (RFC 3834). */
  autoSubmitted: z.enum(['auto-replied', 'auto-generated']),
  text: z.string(),
  html: z.string().optional(),
  attachments: z.array(z.object({ name: z.string().max(255), mimeType: z.string().max(200), content: z.string() })).max(20),
  /** Which reports of the delivery are requested (RFC 3461), if the server supports that. */
  reports: z.enum(['failure', 'all']),
});
export type OutgoingMail = z.infer<typeof outgoingMail>;

const incomingMail = z.object({
  uid: z.number().int(),
  /** Time of arrival, in milliseconds since the Unix epoch. */
  receivedAt: z.number(),
  /** The mail in the format of RFC 5322, in base64. */
  source: z.string(),
  /** Whether the source was cut off at `MAX_MAIL_BYTES`. */
  isCut: z.boolean(),
});
export type IncomingMail = z.infer<typeof incomingMail>;

/** `details` of the port's errors. */
export const mailFault = platformFault.extend({
  reason: z.enum(['sign-in', 'tls', 'unreachable', 'folder', 'quota', 'rejected', 'busy', 'lost']),
});
export type MailFault = z.infer<typeof mailFault>;

/** E-mail by IMAP and SMTP, which need TCP. What a mail means, and who may write, is decided by the caller. */
export const mailPort = definePort({
  kind: 'mail',
  featureName: 'E-mail',
  calls: {
    'mail.poll': defineMethod({
      params: z.object({
        server: mailServer,
        folder: z.string().min(1).max(500),
        /** Null: only finds the position of mails to come. */
        after: mailPosition.nullable(),
        /** Time to wait for mail, in milliseconds. */
        waitMs: z.number().int().min(0).max(600_000),
      }),
      result: z.object({
        position: mailPosition,
        mails: z.array(incomingMail),
        /** Whether more mails are there already. */
        hasMore: z.boolean(),
      }),
      docs: 'Reads the mails of a folder after a position, in order of their UIDs; waits for some by IDLE (RFC 2177). Marks nothing as read.',
      policy: { scope: 'write' },
    }),
    'mail.fetch': defineMethod({
      params: z.object({ server: mailServer, folder: z.string().min(1).max(500), uidValidity: z.string(), uid: z.number().int().min(1) }),
      result: z.object({ source: z.string() }),
      docs: 'Returns one mail, in base64. `NOT_FOUND` if it is gone.',
      fails: ['NOT_FOUND'],
      policy: { scope: 'write' },
    }),
    'mail.find': defineMethod({
      params: z.object({ server: mailServer, messageId }),
      result: z.object({ isFound: z.boolean() }),
      docs: 'Looks for a mail by its Message-ID in the folder of sent mails.',
      policy: { scope: 'write' },
    }),
    'mail.verify': defineMethod({
      params: z.object({ server: mailServer }),
      result: z.object({}),
      docs: 'Signs in to an SMTP server and sends nothing.',
      policy: { scope: 'write' },
    }),
    'mail.send': defineMethod({
      params: z.object({
        server: mailServer,
        /** Where a copy is filed among the sent mails, unless the server does so. */
        copyTo: mailServer,
        mail: outgoingMail,
      }),
      result: z.object({ response: z.string() }),
      docs: 'Sends a mail. Resolves when the server has accepted it.',
      policy: { scope: 'write' },
    }),
  },
  events: {},
});
