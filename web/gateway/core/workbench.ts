import type { Agent, Agents } from './agents.ts';
import type { Bridge } from './bridge.ts';
import { planNote } from './plans/plan-note.ts';
import { planTools } from './plans/plan-tools.ts';
import { Plans, type PlansDeps } from './plans/plans.ts';
import { SKILL_READ, skillTools } from './skills/skill-tools.ts';
import { Skills } from './skills/skills.ts';
import type { Tool } from './tools/registry.ts';
import type { ContentLabels } from './trust/labels.ts';
import { type AgentNotes, NO_NOTES } from './runs/deps.ts';
import type { Vault } from './vault.ts';
import { fileTools } from './workspace/file-tools.ts';
import { FileVersions } from './workspace/versions.ts';
import { Workspaces } from './workspace/workspaces.ts';

export interface WorkbenchDeps extends Omit<PlansDeps, 'agent'> {
  vault: Vault;
  bridge: Bridge;
  agents: Agents;
  labels: ContentLabels;
}

/** Files, plans and skills for agents. Loaded on first use. */
export interface Workbench {
  workspaces: Workspaces;
  versions: FileVersions;
  plans: Plans;
  skills: Skills;
  tools: Tool[];
  /**
   * Returns notes on plans and skills for the start of a run. `key` is null if the run belongs to no session; `message` is the message that
   * it answers.
   */
  notes(agent: Agent, key: string | null, offered: readonly { name: string }[], message: string): Promise<AgentNotes>;
}

export async function openWorkbench(deps: WorkbenchDeps): Promise<Workbench> {
  const { agents, labels, fault } = deps;
  const agent = (id: string): Agent => agents.get(id);
  const workspaces = new Workspaces(deps);
  const versions = new FileVersions({ ...deps, workspaces });
  const plans = await Plans.open({ ...deps, agent });
  const skills = new Skills(deps);
  return {
    workspaces,
    versions,
    plans,
    skills,
    tools: [...fileTools({ workspaces, versions, labels, agent }), ...planTools(plans, labels), ...skillTools({ skills, agent })],
    async notes(who, key, offered, message) {
      const has = (name: string): boolean => offered.some((tool) => tool.name === name);
      const current = key !== null && has('plan_update') ? plans.current(key) : undefined;
      // If skills cannot be read, the run continues without them.
      const told = has(SKILL_READ) ? await skills.notes(who, message).catch((error: unknown) => void fault(error)) : undefined;
      return {
        system: told?.list ?? '',
        plan: current ? { text: planNote(current), outside: await labels.getSources('plan', current.id) } : NO_NOTES.plan,
        skill: told?.called ?? NO_NOTES.skill,
      };
    },
  };
}
