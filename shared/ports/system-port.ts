import { defineMethod } from '../rpc/contract.ts';
import { logLevel, MAX_LOG_LINES } from '../rpc/log-level.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

const noParams = z.strictObject({});

/** The machine that the bridge runs on, as `system.info`, `update.check` and the doctor ask about it. */
export const systemPort = definePort({
  kind: 'system',
  featureName: 'Reading system information',
  calls: {
    'system.about': defineMethod({
      params: noParams,
      result: z.object({
        /** The bridge's clock, milliseconds since 1970. */
        now: z.number(),
        /** Version of the package, and of the app that it serves. */
        version: z.string(),
        build: z.string(),
        node: z.string(),
        platform: z.string(),
        /** Null if Python is not installed. */
        python: z.string().nullable(),
      }),
      docs: 'Returns the versions and the time of the bridge.',
      policy: { scope: 'read' },
    }),
    'system.faults': defineMethod({
      params: noParams,
      result: z.object({
        /** Files and folders whose permissions are too open. */
        open: z.array(z.object({ path: z.string(), mode: z.string(), wanted: z.string() })),
        /** Location of the vault's own key; null if unknown. */
        vaultKey: z.enum(['file', 'keyring']).nullable(),
        /** Why the file modes are unknown; null if they are known. */
        modesUnknown: z.string().nullable(),
        /** Whether the managed Chromium runs without a sandbox, because the bridge runs as root. */
        unsandboxed: z.boolean(),
        /** User that runs the bridge, and each command that it starts. */
        user: z.object({ name: z.string(), root: z.boolean() }),
        /** Allowed hosts of the gateway. */
        hostMode: z.enum(['auto', 'tab', 'headless']),
        /** The browser that can run the gateway without a tab; null if none was found. */
        browser: z.string().nullable(),
        /** Why no browser was found. */
        noBrowser: z.string().nullable(),
      }),
      docs: 'Returns problems with the bridge’s files and programs.',
      policy: { scope: 'read' },
    }),
    'system.latest': defineMethod({
      params: noParams,
      result: z.object({ version: z.string().nullable(), error: z.string().optional(), note: z.string().optional() }),
      docs: 'Returns the newest version in the npm registry of this computer, or null and the reason: `error` if the check failed, `note` if there is no such package.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});

const bridgeLogLine = z.object({
  /** Counts from 1; later lines have higher numbers. */
  number: z.number().int().positive(),
  at: z.number(),
  level: logLevel,
  message: z.string(),
});
export type BridgeLogLine = z.infer<typeof bridgeLogLine>;

/** The bridge's log since it started, up to the size of its ring buffer. */
export const logsPort = definePort({
  kind: 'logs',
  featureName: 'Reading the bridge log',
  calls: {
    'logs.read': defineMethod({
      params: z.strictObject({
        /**
         * Ring buffer, and the last line already read; without them the newest lines. Another ring: the bridge was restarted, and all of
         * its lines are newer.
         */
        ring: z.string().max(100).default(''),
        after: z.number().int().nonnegative().optional(),
        /** Return the lines before this one of that ring; none if the ring has changed. */
        before: z.number().int().nonnegative().optional(),
        limit: z.number().int().min(1).max(MAX_LOG_LINES),
        /** This level and higher ones. */
        level: logLevel.default('debug'),
      }),
      result: z.object({
        ring: z.string(),
        lines: z.array(bridgeLogLine),
        /** The number of the newest line. */
        last: z.number().int().nonnegative(),
        /** The file that has the lines too. Missing in older bridges. */
        path: z.string().optional(),
      }),
      docs: 'Returns the newest lines, the newest ones before a line, or the first ones after a line; oldest first.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
