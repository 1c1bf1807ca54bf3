import { call } from '../contract.ts';
import { z } from '../zod.ts';

const nothing = z.strictObject({});

export const presenceEntry = z.object({
  /** `gateway`, `bridge`, `journal`, `host:…`, `client:…`, `provider:…`. */
  component: z.string(),
  state: z.enum(['online', 'offline', 'idle', 'away']),
  /** Milliseconds since 1970: when it came to be so, of clients when they last asked for something. */
  updated: z.number(),
});
/** One part of the gateway, or somebody connected to it (interface document 1, section 2.2). */
export type PresenceEntry = z.infer<typeof presenceEntry>;

export const doctorCheck = z.object({
  id: z.string(),
  title: z.string(),
  severity: z.enum(['ok', 'info', 'warning', 'error', 'critical']),
  message: z.string(),
  /** What to do about it: in every check that is no `ok` and no `info`. */
  fixHint: z.string().optional(),
});
export type DoctorCheck = z.infer<typeof doctorCheck>;

/** How the gateway is, and what it runs on (interface document 1, section 4.1; decisions, "Devices, logs …"). */
export const status = {
  'system.info': call({
    params: nothing,
    result: z.object({
      /** The operating system that the browser says it runs on. */
      platform: z.string(),
      /** Of the bridge's machine; null without bridge or Python. */
      python: z.string().nullable(),
      /** Seconds. */
      uptime: z.number(),
      /** The bridge's Node; null without bridge. */
      node: z.string().nullable(),
      browser: z.string(),
      version: z.string(),
      build: z.string(),
      host: z.enum(['shared-worker', 'dedicated-worker', 'headless']),
    }),
    docs: 'What the gateway runs on: the browser that hosts it, and the bridge’s Node and Python.',
    policy: { scope: 'read' },
  }),
  'system.presence': call({
    params: nothing,
    result: z.object({ entries: z.array(presenceEntry) }),
    docs: 'Which parts are there: gateway, bridge, journal, hosts, the newest clients, providers.',
    policy: { scope: 'read' },
  }),
  'web.status': call({
    params: nothing,
    result: z.object({ connected: z.boolean(), /** Seconds; 0 while none is. */ uptime: z.number() }),
    docs: 'Whether a tab of the app is attached, and for how long there has been one.',
    policy: { scope: 'read' },
  }),
  'update.check': call({
    params: nothing,
    result: z.object({
      currentVersion: z.string(),
      updateAvailable: z.boolean(),
      latestVersion: z.string().optional(),
      /** Why nobody can say. */
      error: z.string().optional(),
    }),
    docs: 'Asks the package registry, through the bridge, whether there is a newer version. Where nobody can say, `error` tells why.',
    policy: { scope: 'read' },
  }),
  'doctor.run': call({
    params: nothing,
    result: z.object({
      checks: z.array(doctorCheck),
      /** How many are `ok` or `info`; `warning`; `error` or `critical`. */
      summary: z.object({ passed: z.number().int(), warnings: z.number().int(), failed: z.number().int() }),
    }),
    docs: 'Looks for faults: storage, clocks, providers, files’ modes, builds, sync, settings. Each fault has a `fixHint`.',
    policy: { scope: 'read' },
  }),
};
