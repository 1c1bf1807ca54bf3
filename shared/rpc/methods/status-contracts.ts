import { defineMethod } from '../contract.ts';
import { presenceEntry } from '../presence-entry.ts';
import { z } from '../zod.ts';

const noParams = z.strictObject({});

export const doctorCheck = z.object({
  id: z.string(),
  title: z.string(),
  severity: z.enum(['ok', 'info', 'warning', 'error', 'critical']),
  message: z.string(),
  /** How to fix the problem. Present unless the severity is `ok` or `info`. */
  fixHint: z.string().optional(),
});
export type DoctorCheck = z.infer<typeof doctorCheck>;

/** Status of the gateway and the system it runs on. */
export const statusContracts = {
  'system.info': defineMethod({
    params: noParams,
    result: z.object({
      /** The operating system reported by the browser. */
      platform: z.string(),
      /** Python version on the bridge's machine; null without a bridge or Python. */
      python: z.string().nullable(),
      /** Seconds. */
      uptime: z.number(),
      /** Node version of the bridge; null without a bridge. */
      node: z.string().nullable(),
      browser: z.string(),
      version: z.string(),
      build: z.string(),
      host: z.enum(['shared-worker', 'dedicated-worker', 'headless']),
    }),
    docs: 'Returns the platform, browser and version that the gateway runs on, and the bridge’s Node and Python versions.',
    policy: { scope: 'read' },
  }),
  'system.presence': defineMethod({
    params: noParams,
    result: z.object({ entries: z.array(presenceEntry) }),
    docs: 'Lists the gateway, bridge, journal, hosts, newest clients and providers with their state.',
    policy: { scope: 'read' },
  }),
  'web.status': defineMethod({
    params: noParams,
    result: z.object({ connected: z.boolean(), /** Seconds; 0 if no tab is connected. */ uptime: z.number() }),
    docs: 'Returns whether a tab of the app is connected, and for how long at least one has been.',
    policy: { scope: 'read' },
  }),
  'update.check': defineMethod({
    params: noParams,
    result: z.object({
      currentVersion: z.string(),
      updateAvailable: z.boolean(),
      latestVersion: z.string().optional(),
      /** Why the check failed. */
      error: z.string().optional(),
      /** Why no version is known although the check did not fail: the registry has no such package. */
      note: z.string().optional(),
    }),
    docs: 'Asks the package registry, through the bridge, whether a newer version is available. If the check fails, `error` gives the reason.',
    policy: { scope: 'read' },
  }),
  'doctor.run': defineMethod({
    params: noParams,
    result: z.object({
      checks: z.array(doctorCheck),
      /** Number of checks that are `ok` or `info`; `warning`; `error` or `critical`. */
      summary: z.object({ passed: z.number().int(), warnings: z.number().int(), failed: z.number().int() }),
    }),
    docs: 'Runs the health checks: storage, clocks, providers, file permissions, builds, sync and settings. Every check that found a problem has a `fixHint`.',
    policy: { scope: 'read' },
  }),
};
