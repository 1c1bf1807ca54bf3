import type { SubAgentWork } from '#shared/rpc/record-schemas.ts';
import type { SessionRecord } from '../../storage/chat-records.ts';
import type { Vault } from '../../storage/vault-interface.ts';

type SubAgentSession = SessionRecord & { subAgent: SubAgentWork };

/** Sessions of the sub-agents of these sessions, including nested ones, in the order of their start. */
export async function listSubAgentSessions({ sessions }: Pick<Vault, 'sessions'>, keys: readonly string[]): Promise<SubAgentSession[]> {
  const byParent = new Map<string, SubAgentSession[]>();
  for (const session of await sessions.list()) {
    const { subAgent } = session;
    if (!subAgent) continue;
    const siblings = byParent.get(subAgent.parentPath);
    if (siblings) siblings.push({ ...session, subAgent });
    else byParent.set(subAgent.parentPath, [{ ...session, subAgent }]);
  }
  const found = new Set<SubAgentSession>();
  const add = (key: string): void => {
    for (const session of byParent.get(`${key}.jsonl`) ?? []) {
      // Guards against cyclic references in an imported vault.
      if (found.has(session)) continue;
      found.add(session);
      add(session.key);
    }
  };
  for (const key of keys) add(key);
  return [...found].sort((a, b) => a.createdAt - b.createdAt || a.subAgent.number - b.subAgent.number);
}
