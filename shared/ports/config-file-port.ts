import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

const document = z.record(z.string(), z.unknown());
/** SHA-256 of the file's text, in hex; null if there is no file. */
const hash = z.string().nullable();

/** The user's own configuration file next to the bridge. */
export const configFilePort = definePort({
  kind: 'config-file',
  featureName: 'Using the configuration file',
  calls: {
    'config-file.read': defineMethod({
      params: z.object({ /** The hash that is known. */ known: hash.optional() }),
      result: z.discriminatedUnion('state', [
        z.object({ state: z.literal('same') }),
        z.object({
          state: z.literal('read'),
          path: z.string(),
          hash,
          /** Content; null if there is no file. */
          document: document.nullable(),
          /** Content when file and gateway last agreed; null if they never have. */
          synced: document.nullable(),
        }),
        /** The file is not JSON, or cannot be read: the place, counted from 1, and the reason. */
        z.object({
          state: z.literal('broken'),
          path: z.string(),
          hash,
          message: z.string(),
          line: z.number().int().optional(),
          column: z.number().int().optional(),
        }),
      ]),
      docs: 'Reads the file, unless it is unchanged.',
      policy: { scope: 'read' },
    }),
    'config-file.place': defineMethod({
      params: z.object({ /** Hash of the file to change. */ hash: z.string(), key: z.string().max(4096) }),
      result: z.object({ line: z.number().int(), column: z.number().int() }).nullable(),
      docs: 'Returns the position of a setting in the file, counted from 1, by its dotted path: that of the innermost part of the path that exists. Null if none exists or the file has changed.',
      policy: { scope: 'read' },
    }),
    'config-file.write': defineMethod({
      params: z.object({
        document,
        /** The hash of the file that the document was made from. */
        base: hash,
        /** A version that lost against the file, to be saved next to it. */
        lost: document.optional(),
      }),
      result: z.object({ /** False: the file has changed since, and nothing was written. */ written: z.boolean(), hash }),
      docs: 'Updates the file atomically if it differs, and records that file and gateway agree. Keeps comments and order.',
      policy: { scope: 'admin' },
    }),
  },
  events: {},
});
