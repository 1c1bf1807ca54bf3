import { commandArgs, commandDir, commandName } from '../../ports/exec.ts';
import { call } from '../contract.ts';
import { agentId, sessionId } from '../records.ts';
import { z } from '../zod.ts';

export const execStatus = z.enum(['pending', 'approved', 'running', 'completed', 'failed', 'denied', 'expired', 'cancelled']);

export const execRequest = z.object({
  requestId: z.string(),
  /** The program, as it was asked for; there is no shell. */
  command: z.string(),
  args: z.array(z.string()),
  workingDir: z.string(),
  /** Who asked: an agent in a session, or a person (null). */
  agentId: agentId.nullable(),
  sessionId: sessionId.nullable(),
  /** The run that waits for it. */
  runId: z.string().nullable(),
  /** The model's call that it is of. */
  toolCallId: z.string().optional(),
  /** What it is for, as the model says. */
  purpose: z.string().optional(),
  status: execStatus,
  createdAt: z.number(),
  expiresAt: z.number(),
  resolvedAt: z.number().optional(),
  endedAt: z.number().optional(),
  /** How it ended: the exit code, or null where a signal ended it. */
  exitCode: z.number().int().nullable().optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  /** There was more output than is kept: the first MiB of each kind, less of older commands. */
  truncated: z.boolean().optional(),
  /** Why it failed, or was denied or cancelled. */
  reason: z.string().optional(),
  riskLevel: z.enum(['low', 'medium', 'high']),
  /** What an approval binds to: SHA-256 of the command, its real path, the program's bytes, arguments, directory and environment. */
  hash: z.string(),
  /** The program's file, links resolved. */
  realPath: z.string(),
});
/** A command that waits for a person's word, runs, or has run (decisions, "Cron, tools, exec, plans"). */
export type ExecRequest = z.infer<typeof execRequest>;

/** An "always": commands of this hash run without asking. */
export const execPolicy = z.object({
  hash: z.string(),
  command: z.string(),
  args: z.array(z.string()),
  workingDir: z.string(),
  createdAt: z.number(),
});
export type ExecPolicy = z.infer<typeof execPolicy>;

const requestId = z.string().min(1).max(128);
const request = z.object({ request: execRequest });

/** Commands on the bridge's machine, each behind a person's word (interface document 1, section 4.1). */
export const exec = {
  'exec.list': call({
    params: z.strictObject({}),
    result: z.object({ requests: z.array(execRequest), count: z.number().int() }),
    docs: 'Lists requests to run a command, the newest first; without their output, which `exec.get` has.',
    policy: { scope: 'read' },
  }),
  'exec.get': call({
    params: z.strictObject({ requestId }),
    result: request,
    docs: 'One request, with its output so far.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'exec.create': call({
    params: z.strictObject({
      command: commandName,
      args: commandArgs.default([]),
      /** An absolute directory; where it is left out, a folder of the bridge's own. */
      workingDir: commandDir.optional(),
    }),
    result: request,
    emits: ['exec.requested', 'exec.resolved'],
    docs: 'Asks to run a program with arguments, without a shell. It waits for approval, unless a stored policy covers exactly this command; needs the bridge.',
    policy: { scope: 'write' },
  }),
  'exec.approve': call({
    params: z.strictObject({ requestId, always: z.boolean().default(false) }),
    result: request,
    emits: ['exec.resolved'],
    docs: 'Approves a request and answers at once; the command runs on. `always` stores a policy for exactly this command. One that is not pending is returned as it is.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'exec.deny': call({
    params: z.strictObject({ requestId, reason: z.string().max(1000).optional() }),
    result: request,
    emits: ['exec.resolved'],
    docs: 'Denies a request. One that is not pending is returned as it is.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'exec.cancel': call({
    params: z.strictObject({ requestId }),
    result: request,
    emits: ['exec.resolved'],
    docs: 'Withdraws a request; a command that runs is ended with all its processes.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'exec.policies': call({
    params: z.strictObject({}),
    result: z.object({ policies: z.array(execPolicy), count: z.number().int() }),
    docs: 'Lists the commands that run without asking.',
    policy: { scope: 'read' },
  }),
  'exec.forget': call({
    params: z.strictObject({ hash: z.string().min(1).max(128) }),
    result: z.object({ forgotten: z.literal(true) }),
    docs: 'Takes a stored policy back.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'tools.exec_approve': call({
    params: z.strictObject({ requestId, approved: z.boolean() }),
    result: z.object({ ok: z.literal(true) }),
    emits: ['exec.resolved'],
    docs: 'Approves or denies a request, in the form of earlier revisions.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
