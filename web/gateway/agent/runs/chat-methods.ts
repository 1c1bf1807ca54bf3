import { chatContracts } from '#shared/rpc/methods/chat-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { defineMethods } from '../../system/methods.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { Runs } from './runs.ts';
import { toHistory, MAX_MESSAGE_BYTES, toPlainText, createSessionChangedEvent } from '../../storage/session-views.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { type MessageRecord, toSessionKey } from '../../storage/chat-records.ts';

export const chatMethods = defineMethods(chatContracts)(({ runs, vault, hub }: { runs: Runs; vault: Vault; hub: EventBus }) => ({
  'chat.send': ({ temperature, thinking, ...params }, { principal, scopes, follow }) => {
    follow(toSessionKey(params.agentId, params.sessionId));
    return runs.send({ ...params, parameters: { temperature, thinking }, principal, scopes });
  },

  'chat.resend': ({ idempotencyKey: _, temperature, thinking, ...params }, { principal, scopes, follow }) => {
    follow(toSessionKey(params.agentId, params.sessionId));
    return runs.resend({ ...params, parameters: { temperature, thinking }, principal, scopes });
  },

  'chat.edit': ({ temperature, thinking, ...params }, { principal, scopes, follow }) => {
    follow(toSessionKey(params.agentId, params.sessionId));
    return runs.edit({ ...params, parameters: { temperature, thinking }, principal, scopes });
  },

  'chat.abort': async ({ agentId, sessionId, sentWith }, { principal }) => {
    const key = toSessionKey(agentId, sessionId);
    const runIds = sentWith === undefined ? await runs.abort(key) : runs.withdraw(key, principal, sentWith);
    return { aborted: runIds.length > 0, runIds };
  },

  'chat.history': async ({ agentId, sessionId, limit, before }, { follow }) => {
    const key = toSessionKey(agentId, sessionId);
    // Subscribes first, so that no event is lost between the read and the subscription.
    follow(key);
    if (!(await vault.sessions.get(key))) throw new RpcError('NOT_FOUND', `No session with id "${sessionId}".`);
    const branch = await vault.messages.branch(key, { limit, most: MAX_MESSAGE_BYTES, ...(before === undefined ? {} : { before }) });
    const { messages, cut } = toHistory(branch);
    const cursor = cut || branch.more ? (messages[0]?.id ?? null) : null;
    const versions = Object.fromEntries(messages.flatMap(({ id }) => (branch.versions[id] ? [[id, branch.versions[id]]] : [])));
    return { messages, versions, cursor, runs: runs.listActive(key) };
  },

  'chat.branch': async ({ agentId, sessionId, messageId }) => {
    const key = toSessionKey(agentId, sessionId);
    const headId = await runs.selectBranch(key, messageId);
    hub.emit(createSessionChangedEvent(key), key);
    return { headId };
  },

  'chat.attachment': async ({ agentId, sessionId, messageId, index }) => {
    const message = await requireMessage(vault, toSessionKey(agentId, sessionId), messageId);
    const file = typeof message.content === 'string' ? undefined : message.content.filter((part) => part.type !== 'text')[index];
    if (!file) throw new RpcError('NOT_FOUND', `The message has no file with index ${index}.`);
    const { mimeType, data, filename = message.attachments?.[index]?.filename ?? 'file' } = file;
    // Without the bridge, content attached on another device may be missing here.
    if (data === '' && message.attachments?.[index]?.size)
      throw new RpcError('INTERNAL_ERROR', `${filename} is not on this device. Connect to the bridge to load it.`);
    return { filename, mimeType, content: data };
  },

  'chat.text': async ({ agentId, sessionId, messageId }) => ({
    text: toPlainText((await requireMessage(vault, toSessionKey(agentId, sessionId), messageId)).content),
  }),
}));

async function requireMessage(vault: Vault, key: string, messageId: string): Promise<MessageRecord> {
  const message = await vault.messages.get(messageId);
  if (message?.sessionKey !== key) throw new RpcError('NOT_FOUND', `No message with id "${messageId}" in this session.`);
  return message;
}
