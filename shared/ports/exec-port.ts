import { commandArgs, commandDir, commandName, MAX_COMMAND_MS } from '../command-fields.ts';
import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** Maximum bytes kept of standard output and of standard error each. The rest is read and dropped. */
export const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Default timeout of a command: ten minutes. */
export const DEFAULT_COMMAND_MS = 600_000;
/** Longer scripts are hashed and run, but not shown to the person who approves. */
export const MAX_SHOWN_SCRIPT_BYTES = 256 * 1024;

/** A script that a command runs. */
export const execScript = z.object({
  /** Absolute, with links resolved. */
  path: z.string(),
  bytes: z.number().int(),
  /** Missing if it is longer than 256 KiB or not text. */
  text: z.string().optional(),
});
export type ExecScript = z.infer<typeof execScript>;

/** A file that a command's arguments name. */
export const execFile = z.object({
  path: z.string(),
  bytes: z.number().int(),
  /** Whether the approval "always" covers other contents of it. */
  isData: z.boolean(),
});

const commandParams = { command: commandName, args: commandArgs };

/** Programs on the bridge's computer, without a shell. */
export const execPort = definePort({
  kind: 'exec',
  featureName: 'Running commands',
  calls: {
    'exec.resolve': defineMethod({
      params: z.object({ ...commandParams, workingDir: commandDir.optional() }),
      result: z.object({
        /** The program's file, links resolved. */
        realPath: z.string(),
        /** Absolute, links resolved. */
        workingDir: z.string(),
        /** SHA-256 in hex: command, real path, the bytes of its programs and scripts, arguments and the files that they name, directory, environment. */
        hash: z.string(),
        /** The same without files that only hold data; "always" is bound to it. Missing in older bridges. */
        standingHash: z.string().optional(),
        /** The hash of older builds, for programs that run no other code. */
        earlierHash: z.string().optional(),
        scripts: z.array(execScript).optional(),
        files: z.array(execFile).optional(),
        /** Workspaces whose folders contain the command, or a file that it names: it may load code from there. */
        workspaces: z.array(z.string()).optional(),
        /** Whether the program is an interpreter or runs other programs: it may load more than is hashed. */
        isInterpreter: z.boolean().optional(),
      }),
      docs: 'Resolves a command as it would run now. `INVALID_PARAMS` if the program or directory does not exist.',
      policy: { scope: 'read' },
    }),
    'exec.run': defineMethod({
      params: z.object({
        ...commandParams,
        workingDir: commandDir,
        /** Hash from `exec.resolve`, as a person approved it. */
        hash: z.string(),
        timeoutMs: z.number().int().min(1).max(MAX_COMMAND_MS).default(DEFAULT_COMMAND_MS),
      }),
      result: z.object({
        /** Null if a signal ended it. */
        exitCode: z.number().int().nullable(),
        signal: z.string().nullable(),
        timedOut: z.boolean(),
        /** Whether output was dropped. */
        truncated: z.boolean(),
      }),
      docs: 'Runs the command if it still matches the hash. Its output is sent as events. Ends with all its processes when the program ends or the caller disconnects.',
      policy: { scope: 'write' },
    }),
  },
  events: {
    'exec.output': z.object({ stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  },
});
