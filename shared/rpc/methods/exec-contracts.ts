import { execFile, execScript } from '../../ports/exec-port.ts';
import { commandArgs, commandDir, commandName } from '../../command-fields.ts';
import { defineMethod } from '../contract.ts';
import { agentId, sessionId, subAgentLabel } from '../record-schemas.ts';
import { z } from '../zod.ts';

const execStatus = z.enum(['pending', 'approved', 'running', 'completed', 'failed', 'denied', 'expired', 'cancelled']);

export const execRequest = z.object({
  requestId: z.string(),
  /** The program as requested, or its first word if it was split. There is no shell. */
  command: z.string(),
  args: z.array(z.string()),
  workingDir: z.string(),
  /** The agent and session that made the request; null for a person. */
  agentId: agentId.nullable(),
  sessionId: sessionId.nullable(),
  /** The run that waits for the command. */
  runId: z.string().nullable(),
  /** The ID of the model's tool call. */
  toolCallId: z.string().optional(),
  /** The purpose, as stated by the model. */
  purpose: z.string().optional(),
  status: execStatus,
  createdAt: z.number(),
  expiresAt: z.number(),
  resolvedAt: z.number().optional(),
  endedAt: z.number().optional(),
  /** The exit code; null if a signal ended the command. */
  exitCode: z.number().int().nullable().optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  /** Whether output was dropped: up to 1 MiB of stdout and of stderr is kept, less for older commands. */
  truncated: z.boolean().optional(),
  /** Why the command failed or was denied or cancelled. */
  reason: z.string().optional(),
  /** Where a person decided: `app`, `push`, or `channel:<id>`. */
  resolvedVia: z.string().optional(),
  /** The sub-agent that asks, if it is one. */
  subAgent: subAgentLabel.optional(),
  /** The outside sources that the run has read, such as `web:example.com`, if they make the approval necessary. */
  outside: z.array(z.string()).optional(),
  riskLevel: z.enum(['low', 'medium', 'high']),
  /** SHA-256 that an approval is bound to: of the command, its real path, the bytes of its programs and scripts, arguments and the files that they name, directory and environment. */
  hash: z.string(),
  /** Path of the program with links resolved. */
  realPath: z.string(),
  /** SHA-256 that `always` is bound to: like `hash`, without the content of files that only hold data. */
  standingHash: z.string().optional(),
  /** The scripts that the command runs. Their text is only in `exec.get`, with that of the version that was allowed last. */
  scripts: z.array(execScript.extend({ previous: z.string().optional() })).optional(),
  /** The files that the arguments name. */
  files: z.array(execFile).optional(),
  /** Whether the program may load more code than is hashed. */
  isInterpreter: z.boolean().optional(),
  /** Workspaces in whose folders the command, or a file that it names, lies. */
  workspaces: z.array(z.string()).optional(),
  /** Files of these workspaces, from outside and not yet reviewed, which the command could load. It waits for approval because of them. */
  unreviewed: z.array(z.string()).optional(),
  /** To whom `always` would apply: `owner`, `agent:<id>` or `key:<id>`. */
  grantee: z.string().optional(),
});
/** A command that waits for approval, is running or has ended. */
export type ExecRequest = z.infer<typeof execRequest>;

/** A stored "always" approval: this command runs without asking. */
const execPolicy = z.object({
  /** Its ID. */
  hash: z.string(),
  /** The grantee: `owner`, `agent:<id>` or `key:<id>`. Missing in policies of older builds: they apply to the owner, and not to interpreters. */
  grantee: z.string().optional(),
  command: z.string(),
  args: z.array(z.string()),
  workingDir: z.string(),
  createdAt: z.number(),
  /** Outside sources after whose reading the command may run too. */
  outside: z.array(z.string()).optional(),
});
export type ExecPolicy = z.infer<typeof execPolicy>;

const requestId = z.string().min(1).max(128);
const requestResult = z.object({ request: execRequest });

/** Commands on the bridge's machine. Each needs an approval. */
export const execContracts = {
  'exec.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ requests: z.array(execRequest), count: z.number().int() }),
    docs: 'Lists command requests, newest first, without their output. Use `exec.get` for the output.',
    policy: { scope: 'read' },
  }),
  'exec.get': defineMethod({
    params: z.strictObject({ requestId }),
    result: requestResult,
    docs: 'Returns a command request with its output so far.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'exec.create': defineMethod({
    params: z.strictObject({
      command: commandName,
      args: commandArgs.default([]),
      /** An absolute path. The default is a folder of the bridge. */
      workingDir: commandDir.optional(),
    }),
    result: requestResult,
    emits: ['exec.requested', 'exec.resolved'],
    docs: 'Requests to run a program with arguments, without a shell. A `command` without `args` that is not a path or program is split into words; one that only a shell could run as written is `INVALID_PARAMS`. The request returned has what would run. The request waits for an approval unless a stored policy covers exactly this command. Requires the bridge.',
    policy: { scope: 'write' },
  }),
  'exec.approve': defineMethod({
    params: z.strictObject({ requestId, always: z.boolean().default(false) }),
    result: requestResult,
    emits: ['exec.resolved'],
    docs: 'Approves a request. The response is returned immediately; the command continues in the background. `always: true` stores a policy for exactly this command. A request that is no longer pending is returned unchanged.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'exec.deny': defineMethod({
    params: z.strictObject({ requestId, reason: z.string().max(1000).optional() }),
    result: requestResult,
    emits: ['exec.resolved'],
    docs: 'Denies a request. A request that is no longer pending is returned unchanged.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'exec.cancel': defineMethod({
    params: z.strictObject({ requestId }),
    result: requestResult,
    emits: ['exec.resolved'],
    docs: 'Cancels a request. If the command is running, all its processes are stopped.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'exec.policies': defineMethod({
    params: z.strictObject({}),
    result: z.object({ policies: z.array(execPolicy), count: z.number().int() }),
    docs: 'Lists the commands that run without approval.',
    policy: { scope: 'read' },
  }),
  'exec.forget': defineMethod({
    params: z.strictObject({ hash: z.string().min(1).max(128) }),
    result: z.object({ forgotten: z.literal(true) }),
    docs: 'Removes a stored policy.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'tools.exec_approve': defineMethod({
    params: z.strictObject({ requestId, approved: z.boolean() }),
    result: z.object({ ok: z.literal(true) }),
    emits: ['exec.resolved'],
    docs: 'Approves or denies a request. Kept for older clients; use `exec.approve` and `exec.deny`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
