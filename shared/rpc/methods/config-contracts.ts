import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

const key = z.string().min(1).max(300);

export const configFileState = z.object({
  /** `off`: no bridge, so no file. `broken`: not valid JSON. `invalid`: not a valid configuration. For both, the last valid configuration stays in use. */
  state: z.enum(['off', 'synced', 'broken', 'invalid', 'failed']),
  path: z.string().nullable(),
  /** The error and its position in the file, counted from 1. */
  problem: z.object({ message: z.string(), line: z.number().int().optional(), column: z.number().int().optional() }).nullable(),
});
/** State of the user's configuration file. */
export type ConfigFileState = z.infer<typeof configFileState>;

/** Reading and changing the configuration. */
export const configContracts = {
  'config.get': defineMethod({
    params: z.strictObject({ key: key.optional() }),
    result: z.object({
      value: z.unknown(),
      hash: z.string(),
      /** True if the setting is not set and `value` is its default; null if it has none. */
      isDefault: z.literal(true).optional(),
    }),
    docs: 'Returns the setting at a dotted path, or the whole configuration. A setting that is not set is returned with its default. Secrets are returned as `***`, as are values of unknown settings that look like secrets; for callers that cannot change the configuration, so is every value that looks like a secret.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'config.set': defineMethod({
    params: z.strictObject({ key, value: z.unknown() }),
    result: z.object({ ok: z.literal(true), hash: z.string() }),
    emits: ['config.changed'],
    docs: 'Sets the value at a dotted path. An unknown setting is `INVALID_PARAMS`, with the most similar one in the message; one that the configuration file has can be deleted with null. Writing `***` back keeps a secret unchanged. `${NAME}` as the value of a secret refers to the bridge’s environment or its `secrets.env`.',
    policy: { scope: 'admin', controlPlane: true },
  }),
  'config.patch': defineMethod({
    params: z.strictObject({ patch: z.record(z.string(), z.unknown()), baseHash: z.string().max(128).optional() }),
    result: z.object({ ok: z.literal(true), hash: z.string() }),
    emits: ['config.changed'],
    docs: 'Applies a JSON merge patch (RFC 7396; null deletes). Unknown settings are refused as by `config.set`. The result is validated as a whole before anything changes.',
    policy: { scope: 'admin', controlPlane: true },
  }),
  'config.file': defineMethod({
    params: z.strictObject({}),
    result: configFileState,
    emits: ['config.file'],
    docs: 'Returns the state of the configuration file on the bridge’s disk, and the position of the error if it cannot be used.',
    policy: { scope: 'read' },
  }),
  'secrets.reload': defineMethod({
    params: z.strictObject({}),
    result: z.object({ reloaded: z.literal(true), count: z.number().int() }),
    emits: ['config.changed'],
    docs: 'Reloads the configuration and its secrets, including the values that `${NAME}` refers to. `count` is the number of secrets that can be read.',
    policy: { scope: 'admin', controlPlane: true },
  }),
};
