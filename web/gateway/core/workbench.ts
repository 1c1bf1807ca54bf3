import type { Agent, Agents } from './agents.ts';
import type { Bridge } from './bridge.ts';
import { planTools } from './plans/plan-tools.ts';
import { Plans, type PlansDeps } from './plans/plans.ts';
import { SKILL_READ, skillTools } from './skills/skill-tools.ts';
import { Skills } from './skills/skills.ts';
import type { Tool } from './tools/registry.ts';
import type { Vault } from './vault.ts';
import { fileTools } from './workspace/file-tools.ts';
import { Workspaces } from './workspace/workspaces.ts';

export interface WorkbenchDeps extends Omit<PlansDeps, 'agent'> {
  vault: Vault;
  bridge: Bridge;
  agents: Agents;
}

/** What agents work with: files, plans and skills. Loaded when it is first wanted. */
export interface Workbench {
  workspaces: Workspaces;
  plans: Plans;
  skills: Skills;
  tools: Tool[];
  /** What an agent is told of them at the beginning of a run; `key` is null where the run is of no session, `message` is what it answers. */
  notes(agent: Agent, key: string | null, offered: readonly { name: string }[], message: string): Promise<string[]>;
}

export async function openWorkbench(deps: WorkbenchDeps): Promise<Workbench> {
  const { agents, fault } = deps;
  const agent = (id: string): Agent => agents.get(id);
  const workspaces = new Workspaces(deps);
  const plans = await Plans.open({ ...deps, agent });
  const skills = new Skills(deps);
  return {
    workspaces,
    plans,
    skills,
    tools: [...fileTools({ workspaces, agent }), ...planTools(plans), ...skillTools({ skills, agent })],
    async notes(who, key, offered, message) {
      const has = (name: string): boolean => offered.some((tool) => tool.name === name);
      const plan = key !== null && has('plan_update') ? plans.note(key) : undefined;
      // A run goes on without its skills where they cannot be read.
      const told = has(SKILL_READ) ? await skills.notes(who, message).catch((error: unknown) => void fault(error)) : undefined;
      return [plan ?? [], told ?? []].flat();
    },
  };
}
