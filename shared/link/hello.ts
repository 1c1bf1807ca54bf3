import { AREAS, LEVELS, type Scope } from '../rpc/scopes.ts';
import { z } from '../rpc/zod.ts';

/** Version 2 puts several frames into one link message; version 1 sends one each. Both are read. */
export const MUX_VERSION = 2;
export const MIN_MUX_VERSION = 1;
/** Version of the ports that the two sides offer each other. */
export const PORTS_VERSION = 1;
/** Version of the stored data's schema, as the vault's sync will compare it. */
export const SCHEMA_VERSION = 19;

export const hello = z.object({
  muxVersion: z.number().int().min(1),
  portsVersion: z.number().int().min(1),
  schemaVersion: z.number().int().min(1),
  build: z.string().max(100),
  /** Capabilities of this side: names of ports. */
  capabilities: z.array(z.string().max(100)).max(100).default([]),
});
/** The first frame from each side of an uplink. */
export type Hello = z.infer<typeof hello>;

export interface Principal {
  /** `owner`, `app:<credential>`, `host`, `device:<id>`, `key:<id>` or `pairing`. */
  id: string;
  scopes: Scope[];
}

export const opening = z.object({
  /** `rpc` and `http` from the bridge to the host; a port's name (`egress`, …) from the host to the bridge. */
  kind: z.string().max(50),
  principal: z.string().max(200).default(''),
  scopes: z.array(z.enum(LEVELS)).default([]),
  /** The caller's scopes that are not levels (`splitScopes`). */
  areas: z
    .array(z.string().max(50))
    .max(4 * AREAS.length)
    .optional(),
  origin: z.string().max(500).nullable().default(null),
  headers: z.record(z.string(), z.string()).default({}),
});
/** First message of a stream. */
export type Opening = z.infer<typeof opening>;

/** In the opening of an unpaired client: the pairing code that it presented. The bridge cannot check it. */
export const PAIRING_CODE_HEADER = 'x-perch-pairing-code';

export const ending = z.object({ code: z.number().int(), reason: z.string().max(1000) });
