import { RpcError } from '#shared/rpc/errors.ts';
import type { Settings } from './settings.ts';

/** An agent, as runs use it. */
export interface Agent {
  id: string;
  name: string;
  /** The model's key; undefined for the default one. */
  model: string | undefined;
  systemPrompt: string | undefined;
  temperature: number | undefined;
}

/** The configured agents; `main` always exists (decisions, "Sessions, agents …"). */
export function agentsOf(settings: () => Settings): { get(id: string): Agent; list(): Agent[] } {
  const make = (id: string): Agent => {
    const { chat, agents } = settings();
    const given = agents[id];
    return {
      id,
      name: given?.name ?? (id === 'main' ? 'Main' : id),
      model: given?.model ?? chat.model,
      systemPrompt: given?.systemPrompt ?? chat.systemPrompt,
      temperature: given?.temperature,
    };
  };
  const ids = (): string[] => [...new Set(['main', ...Object.keys(settings().agents)])];
  return {
    get(id) {
      if (!ids().includes(id)) throw new RpcError('NOT_FOUND', `No such agent: ${id}`);
      return make(id);
    },
    list: () => ids().map(make),
  };
}
