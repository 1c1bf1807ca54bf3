import type { Agent, Agents } from '../agents.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { formatPlanNote } from '../plans/plan-note.ts';
import { planTools } from '../plans/plan-tools.ts';
import { Plans, type PlansDeps } from '../plans/plans.ts';
import { SKILL_READ, skillTools } from '../skills/skill-tools.ts';
import { SkillLibrary } from '../skills/skill-library.ts';
import type { Tool } from '../tools/tool-registry.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { type AgentNotes, NO_NOTES } from '../runs/run-types.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { fileTools } from '../workspace/file-tools.ts';
import { FileVersions } from '../workspace/file-versions.ts';
import { Workspaces } from '../workspace/workspaces.ts';

export interface AgentToolkitDeps extends Omit<PlansDeps, 'agent'> {
  vault: Vault;
  bridge: Bridge;
  agents: Agents;
  labels: ContentLabels;
  settings(): Pick<Settings, 'deliveries'>;
}

/** Files, plans and skills for agents. Loaded on first use. */
export interface AgentToolkit {
  workspaces: Workspaces;
  versions: FileVersions;
  plans: Plans;
  skills: SkillLibrary;
  tools: Tool[];
  /**
   * Returns notes on plans and skills for the start of a run. `key` is null if the run belongs to no session; `message` is the message that
   * it answers.
   */
  getNotes(agent: Agent, key: string | null, offered: readonly { name: string }[], message: string): Promise<AgentNotes>;
}

export async function openAgentToolkit(deps: AgentToolkitDeps): Promise<AgentToolkit> {
  const { agents, labels, settings, fault } = deps;
  const agent = (id: string): Agent => agents.get(id);
  const workspaces = new Workspaces(deps);
  const versions = new FileVersions({ ...deps, workspaces });
  const plans = await Plans.open({ ...deps, agent });
  const skills = new SkillLibrary(deps);
  return {
    workspaces,
    versions,
    plans,
    skills,
    tools: [
      ...fileTools({ vault: deps.vault, workspaces, versions, labels, agent }),
      ...planTools(plans, labels, settings),
      ...skillTools({ skills, agent }),
    ],
    async getNotes(caller, key, offered, message) {
      const has = (name: string): boolean => offered.some((tool) => tool.name === name);
      const current = key !== null && has('plan_update') ? plans.getCurrent(key) : undefined;
      // If skills cannot be read, the run continues without them.
      const skillNotes = has(SKILL_READ) ? await skills.getNotes(caller, message).catch((error: unknown) => void fault(error)) : undefined;
      return {
        system: skillNotes?.list ?? '',
        plan: current ? { text: formatPlanNote(current), outside: await labels.getSources('plan', current.id) } : NO_NOTES.plan,
        skill: skillNotes?.called ?? NO_NOTES.skill,
      };
    },
  };
}
