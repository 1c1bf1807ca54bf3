import { hasVisibleText } from '#shared/display-name.ts';
import { type Agents, getWorkspaceName } from '../../agent/agents.ts';
import type { SelectedModel } from '../../agent/runs/run-types.ts';
import type { FindSmallModel } from '../../agent/small-work/small-models.ts';
import type { ContentLabels } from '../../agent/trust/content-labels.ts';
import type { Settings } from '../../config/settings-schema.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import { createSessionChangedEvent, toPlainText } from '../../storage/session-views.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { EventBus } from '../../system/event-bus.ts';
import { deliverOutcome, isSilentReply, type OutcomeDeliveryDeps, SILENT_REPLY } from '../deliveries/outcome-delivery.ts';
import { HEARTBEAT } from './job-runs.ts';
import { runUnattended, type UnattendedRunDeps } from './unattended-run.ts';

/** File of the workspace with what to look at. */
const CHECKLIST_FILE = 'HEARTBEAT.md';
const MAX_CHARS = 20_000;

export interface ChecklistDeps extends UnattendedRunDeps, OutcomeDeliveryDeps {
  vault: Pick<Vault, 'files' | 'messages' | 'sessions'>;
  hub: Pick<EventBus, 'emit'>;
  agents: Pick<Agents, 'get'>;
  models: { resolve(model?: string): Promise<SelectedModel> };
  findSmallModel: FindSmallModel;
  labels: Pick<ContentLabels, 'getSources'>;
  settings(): Pick<Settings, 'heartbeat' | 'deliveries'>;
}

/** The agent's checklist; undefined if there is none, or only headings and comments. */
export async function readChecklist(
  { vault, agents }: Pick<ChecklistDeps, 'vault' | 'agents'>,
  agentId: string,
): Promise<string | undefined> {
  const file = await vault.files.get(getWorkspaceName(agents.get(agentId)), CHECKLIST_FILE);
  const content = file?.content ?? '';
  const points = content.replaceAll(/<!--.*?-->/gs, '').replaceAll(/^#.*$/gm, '');
  return hasVisibleText(points) ? content.slice(0, MAX_CHARS) : undefined;
}

const toMessage = (checklist: string): string =>
  [
    `Heartbeat: go through this checklist (${CHECKLIST_FILE}).`,
    `If nothing in it needs the owner’s attention now, reply with exactly ${SILENT_REPLY} and nothing else.`,
    'Otherwise reply with what the owner should know, in a few sentences: the reply is sent to them.',
    '',
    checklist,
  ].join('\n');

/** Model for the checklist: that of the settings, else the small one; undefined for the agent's own. */
async function findModel({ agents, models, findSmallModel, settings }: ChecklistDeps, agentId: string): Promise<string | undefined> {
  const configured = settings().heartbeat.model;
  if (configured !== undefined) return configured;
  return (await findSmallModel(await models.resolve(agents.get(agentId).model)))?.key;
}

/** Has the agent go through the checklist in a chat of its own, which is removed if there is nothing to tell. */
export async function runChecklist(
  deps: ChecklistDeps,
  { id, agentId, checklist }: { id: string; agentId: string; checklist: string },
): Promise<{ isSilent: boolean; error?: string }> {
  const { vault, hub, agents, labels, settings, fault } = deps;
  const sessionId = id.replace('@', '-');
  const key = toSessionKey(agentId, sessionId);
  let model: string | undefined;
  try {
    model = await findModel(deps, agentId);
  } catch (error) {
    return { isSilent: false, error: fault(error).message };
  }
  const { status, messageId, error } = await runUnattended(deps, {
    ...{ agentId, sessionId, message: toMessage(checklist), principal: HEARTBEAT, title: 'Heartbeat', idempotencyKey: id },
    quotedOutside: await labels.getSources('file', `${getWorkspaceName(agents.get(agentId))}/${CHECKLIST_FILE}`),
    ...(model === undefined ? {} : { model }),
  });
  const reply = messageId === undefined ? undefined : await vault.messages.get(messageId);
  if (status === 'completed' && isSilentReply(toPlainText(reply?.content ?? SILENT_REPLY))) {
    if (await vault.sessions.remove(key)) hub.emit(createSessionChangedEvent(key, true), key);
    return { isSilent: true };
  }
  const options = settings().heartbeat.deliver;
  if (options)
    await deliverOutcome(deps, {
      ...{ key: `heartbeat:${id}`, options, source: { kind: 'heartbeat', id: agentId }, title: 'Heartbeat', path: `/chat/${key}` },
      outcome: { isSuccess: status === 'completed', messageId, error },
    });
  return { isSilent: false, ...(error === undefined ? {} : { error }) };
}
