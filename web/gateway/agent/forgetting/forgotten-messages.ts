import type { Vault } from '../../storage/vault-interface.ts';

/** Ids of messages that stay in chats, but were forgotten: memory, summaries and dreaming do not read them. */
export async function listForgottenMessages(vault: Pick<Vault, 'collection'>): Promise<ReadonlySet<string>> {
  return new Set((await vault.collection('forgettings').list()).flatMap(({ messages }) => messages));
}
