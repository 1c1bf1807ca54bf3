import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { commandArgs, commandDir, commandName } from '../command-fields.ts';
import { definePort } from './port.ts';

/** Bytes of one line of a tool server: it ends with more. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** Maximum bytes of lines in transit to the host; reading from the server pauses until the host has taken some. */
export const LINES_WINDOW_BYTES = 1024 * 1024;
/** Maximum lines of a server that are read per second: one that writes endlessly is throttled. */
export const MAX_LINES_PER_SECOND = 5000;
/** Bytes that may wait for a server that does not read them. */
export const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
/** Number of the newest characters of a server's standard error that are kept. */
export const MAX_STDERR_CHARS = 64 * 1024;

const mcpServerCommand = {
  command: commandName,
  args: commandArgs,
  /** In addition to the environment of every command. */
  env: z.record(z.string().max(200), z.string().max(32_768)),
  cwd: commandDir.optional(),
};
const serverCommand = z.object(mcpServerCommand);
/** Command of an MCP server on the bridge's computer. */
export type McpServerCommand = z.output<typeof serverCommand>;

const run = z.string().min(1).max(100);

/** MCP servers over standard input and output. The host parses their messages. */
export const mcpPort = definePort({
  kind: 'mcp',
  featureName: 'Running MCP servers',
  calls: {
    'mcp.check': defineMethod({
      params: serverCommand,
      result: z.object({
        /** SHA-256 in hex: command, arguments, environment, directory, the program's bytes, and those of a script if its interpreter can be given them. */
        hash: z.string(),
        approved: z.boolean(),
        /** True if the approval is one of an older build, which named no bytes and was bound to those that it met first. */
        isApprovalBound: z.boolean().optional(),
        /** Working directory, absolute, links resolved. */
        workingDir: z.string(),
      }),
      docs: 'Returns the hash that an approval of this command binds to, and whether it is approved. `INVALID_PARAMS` if the program or directory does not exist.',
      policy: { scope: 'read' },
    }),
    'mcp.approve': defineMethod({
      params: z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/) }),
      result: z.object({}),
      docs: 'Allows the command with this hash to start.',
      policy: { scope: 'admin' },
    }),
    'mcp.run': defineMethod({
      params: serverCommand.extend({ run }),
      result: z.object({
        exitCode: z.number().int().nullable(),
        signal: z.string().nullable(),
        /** Why the bridge ended it; null if it exited on its own. */
        fault: z.string().nullable(),
        /** The last part of its standard error. */
        stderr: z.string(),
      }),
      docs: 'Starts an approved server without a shell, and resolves when it ends. All its processes end with it or when the caller disconnects.',
      policy: { scope: 'write' },
    }),
    'mcp.write': defineMethod({
      params: z.object({ run, text: z.string() }),
      result: z.object({}),
      docs: 'Writes a line to a running server. Resolves when it is sent; `NOT_FOUND` if the server does not run.',
      fails: ['NOT_FOUND'],
      policy: { scope: 'write' },
    }),
    'mcp.taken': defineMethod({
      params: z.object({ run, bytes: z.number().int().min(0) }),
      result: z.object({}),
      docs: 'Confirms that output of a server has been processed, so that as much more can be sent.',
      policy: { scope: 'write' },
    }),
    'mcp.stderr': defineMethod({
      params: z.object({ run }),
      result: z.object({ text: z.string() }),
      docs: 'Returns the end of the standard error output of a server.',
      fails: ['NOT_FOUND'],
      policy: { scope: 'read' },
    }),
  },
  events: {
    'mcp.began': z.object({ pid: z.number().int() }),
    /** `bytes`: how much they count towards the window. */
    'mcp.lines': z.object({ lines: z.array(z.string()), bytes: z.number().int() }),
  },
});
