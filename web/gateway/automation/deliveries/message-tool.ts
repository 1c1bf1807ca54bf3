import { z } from '#shared/rpc/zod.ts';
import { sha256 } from '#shared/sha256.ts';
import { defineTool } from '../../agent/tools/define-tool.ts';
import type { Tool, ToolContext } from '../../agent/tools/tool-registry.ts';
import { findDestination } from '../../config/find-destination.ts';
import type { Destination } from '../../config/sections/delivery-settings.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { Lazy } from '../../system/modules.ts';
import type { Deliveries } from './deliveries.ts';

/** Time for which a call waits for the platform’s answer. */
const WAIT_MS = 10_000;

interface MessageToolDeps {
  deliveries: Lazy<Pick<Deliveries, 'send' | 'waitForEnd'>>;
  settings(): Pick<Settings, 'deliveries'>;
}

/** The tool `message_send`, offered if the owner has set up destinations. */
export function createMessageTool({ deliveries, settings }: MessageToolDeps): Tool {
  const findTarget = (to: string, { principal }: ToolContext): Destination => findDestination(settings().deliveries.targets, to, principal);
  return defineTool({
    name: 'message_send',
    title: 'Send message',
    summary: 'Sends a message to a destination that you have set up, such as a phone.',
    description:
      'Sends a message to a destination that the owner has set up, such as a channel or a device. The result says whether it was delivered: report nothing else. Not for answers in this chat.',
    source: 'core',
    scope: 'automation',
    isOffered: () => settings().deliveries.targets.length > 0,
    params: z.strictObject({
      to: z.string().min(1).max(128).describe('Name of the destination'),
      text: z.string().min(1).max(20_000).describe('Exactly what is sent'),
    }),
    impact: 'changes',
    effect: ({ to, text }) => `Send to ${to}: ${text}`,
    check: ({ to }, context) => findTarget(to, context),
    async run({ to, text }, context) {
      const { agentId, runId, toolCallId, signal, taint, principal, actsFor: by = principal, isApproved = false } = context;
      const { target, name } = findTarget(to, context);
      // The same call of one run, repeated after a crash, is the same message.
      const call = runId !== null && toolCallId !== undefined ? `${runId}:${toolCallId}` : crypto.randomUUID();
      const loaded = await deliveries.load();
      const { id } = await loaded.send({
        ...{ key: `tool:${await sha256(`${call}\n${text}`)}`, target, text, by, source: { kind: 'tool', id: agentId } },
        ...(taint?.isTainted ? { outside: taint.sources, quotedUrls: taint.findQuotedUrls(text), isReviewed: isApproved } : {}),
      });
      const { state, waitsFor, nextAt, error } = await loaded.waitForEnd(id, WAIT_MS, signal);
      return {
        ...{ to: name, state, deliveryId: id },
        ...(waitsFor === undefined ? {} : { waitsFor }),
        ...(nextAt === undefined ? {} : { nextAt: new Date(nextAt).toISOString() }),
        ...(error === undefined ? {} : { error }),
      };
    },
  });
}
