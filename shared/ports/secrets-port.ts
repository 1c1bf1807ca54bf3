import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** Name of a secret: that of an environment variable. */
export const secretName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/);

/** Secrets that lie on the bridge's machine, by the names that the owner's configuration gives them. */
export const secretsPort = definePort({
  kind: 'secrets',
  featureName: 'Reading secrets from your computer',
  calls: {
    'secrets.resolve': defineMethod({
      params: z.strictObject({ names: z.array(secretName).max(1000) }),
      result: z.object({
        /** Values by name. Secrets that were not found are omitted. */
        values: z.record(z.string(), z.string()),
        /** The file of secrets, and why it is ignored although it exists; null if there is no problem. */
        file: z.string(),
        problem: z.string().nullable(),
      }),
      docs: 'Looks up each name in the bridge’s environment, then in `secrets.env` in its home directory, then in the system keyring (service `perch`). Perch’s own names (`PERCH_…`) are never returned.',
      policy: { scope: 'admin' },
    }),
  },
  events: {},
});
