import { truncateMiddle } from '#shared/truncate-text.ts';
import { formatCommandLine } from '#shared/command-line.ts';
import { commandArgs, commandDir, commandName } from '#shared/command-fields.ts';
import type { ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import type { ToolPolicy } from '#shared/rpc/tool-policies.ts';
import { z } from '#shared/rpc/zod.ts';
import { createRefusalError } from '../approvals/refusal-error.ts';
import type { ApprovalService } from '../approvals/approval-service.ts';
import { defineTool } from '../tools/define-tool.ts';
import { toSource } from '../trust/content-sources.ts';
import { toGrantee } from './grantee.ts';
import { isSilent } from './risk.ts';
import type { Tool, ToolGate } from '../tools/tool-registry.ts';
import type { Lazy } from '../../system/modules.ts';

/** Maximum number of characters of output for a model, and of its share for errors if both streams are long. */
const MAX_CHARS = 20_000;
const ERROR_CHARS = 5_000;

interface ExecToolDeps {
  approvalService: Lazy<ApprovalService>;
  policy(tool: Pick<Tool, 'name' | 'effect'>): ToolPolicy;
  gate: Pick<ToolGate, 'isGranted'>;
}

/** The `exec` tool: each call creates a request, which waits for a person, and returns its outcome. */
export const createExecTool = ({ approvalService, policy, gate }: ExecToolDeps): Tool => {
  const tool: Tool = defineTool({
    name: 'exec',
    title: 'Run command',
    summary: 'Runs a command on the computer that Perch runs on.',
    description:
      'Runs a program on the computer that Perch runs on and returns its output. No shell: pass each argument separately. The user has to approve it.',
    source: 'bridge',
    scope: 'computer',
    params: z.strictObject({
      command: commandName.describe('Name or path of the program'),
      args: commandArgs.default([]).describe('Passed unchanged'),
      workingDir: commandDir.optional().describe('Absolute path. Default: a work folder'),
      purpose: z.string().trim().max(1000).optional().describe('One sentence for the user: why to approve it'),
    }),
    effect: ({ command, args }) => `Run ${formatCommandLine(command, args)}`,
    asks: true,
    async run({ command, args, workingDir, purpose }, context) {
      const { agentId, sessionKey, runId, toolCallId, principal, actsFor = principal, signal, taint } = context;
      const sessionId = sessionKey?.split('/')[1] ?? null;
      const sources = taint?.sources ?? [];
      const isAllowed = (of: readonly string[]): boolean =>
        taint?.isGranted(tool.name, undefined) === true || gate.isGranted(tool.name, of);
      // Neither `auto` nor a stored policy applies to a command that outside content may have asked for.
      const isOpen = sources.length === 0 || isAllowed(sources);
      const approved = isOpen && policy(tool) === 'auto';
      const { exec } = await approvalService.load();
      const grantee = toGrantee(actsFor, agentId);
      const subAgent = context.delegation?.node.label;
      const requester = { agentId, sessionId, runId, toolCallId, subAgent, grantee, isGranted: isAllowed };
      const commandRequest = { command, args, workingDir, purpose: purpose || undefined, approved, ...requester };
      const tainted = sources.length === 0 ? {} : { readOutside: [...sources], ...(isOpen ? {} : { outside: [...sources] }) };
      const request = await exec.perform({ ...commandRequest, ...tainted }, signal);
      // Its output may quote any page or file.
      if (!isSilent(request)) taint?.add([toSource('command', request.command)]);
      if (request.status !== 'completed' && request.status !== 'failed') throw createRefusalError('The command', request);
      return toModelResult(request);
    },
  });
  return tool;
};

function toModelResult({ requestId, status, exitCode = null, stdout = '', stderr = '', truncated, reason }: ExecRequest): unknown {
  const errorChars = Math.max(ERROR_CHARS, MAX_CHARS - stdout.length);
  return {
    requestId,
    status,
    exitCode,
    stdout: truncateMiddle(stdout, MAX_CHARS - Math.min(stderr.length, errorChars)),
    stderr: truncateMiddle(stderr, errorChars),
    ...(truncated ? { truncated } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}
