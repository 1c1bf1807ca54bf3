import { call } from '../contract.ts';
import { z } from '../zod.ts';

const key = z.string().min(1).max(300);

export const configFileState = z.object({
  /** `off`: no bridge, so no file. `broken`: it is no JSON; `invalid`: it does not fit. Either way what was good last stays in use. */
  state: z.enum(['off', 'synced', 'broken', 'invalid', 'failed']),
  path: z.string().nullable(),
  /** What is wrong, and where in the file, counted from 1. */
  problem: z.object({ message: z.string(), line: z.number().int().optional(), column: z.number().int().optional() }).nullable(),
});
/** How the user's configuration file stands. */
export type ConfigFileState = z.infer<typeof configFileState>;

/** Reading and changing the configuration (interface document 1, section 4.1; decisions, "Sessions …, config"). */
export const config = {
  'config.get': call({
    params: z.strictObject({ key: key.optional() }),
    result: z.object({ value: z.unknown(), hash: z.string() }),
    docs: 'Reads one entry by its dotted path, or the whole configuration. Secrets read as `***`, and so does whatever looks like one to who may not change it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'config.set': call({
    params: z.strictObject({ key, value: z.unknown() }),
    result: z.object({ ok: z.literal(true), hash: z.string() }),
    emits: ['config.changed'],
    docs: 'Sets one entry by its dotted path. Writing back `***` keeps a secret; `${NAME}` in the place of one refers to the bridge’s environment or its `secrets.env`.',
    policy: { scope: 'admin', controlPlane: true },
  }),
  'config.patch': call({
    params: z.strictObject({ patch: z.record(z.string(), z.unknown()), baseHash: z.string().max(128).optional() }),
    result: z.object({ ok: z.literal(true), hash: z.string() }),
    emits: ['config.changed'],
    docs: 'Merges a JSON merge patch (null deletes); validated as a whole before anything changes.',
    policy: { scope: 'admin', controlPlane: true },
  }),
  'config.file': call({
    params: z.strictObject({}),
    result: configFileState,
    emits: ['config.file'],
    docs: 'How the configuration file beside the bridge stands: both ways the same, or what is wrong with it and where.',
    policy: { scope: 'read' },
  }),
  'secrets.reload': call({
    params: z.strictObject({}),
    result: z.object({ reloaded: z.literal(true), count: z.number().int() }),
    emits: ['config.changed'],
    docs: 'Reads the configuration and its secrets anew, those that `${NAME}` refers to included; `count` is how many secrets can be read.',
    policy: { scope: 'admin', controlPlane: true },
  }),
};
