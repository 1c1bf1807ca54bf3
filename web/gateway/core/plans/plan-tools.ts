import { RpcError } from '#shared/rpc/errors.ts';
import type { Plan } from '#shared/rpc/methods/plan.ts';
import { z } from '#shared/rpc/zod.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool, ToolContext } from '../tools/registry.ts';
import type { PlanPlace, Plans } from './plans.ts';
import { currentStep, MAX_STEPS } from './steps.ts';

const text = (most: number, about: string) => z.string().trim().min(1).max(most).describe(about);
const planId = z.string().min(1).max(128).optional().describe('The plan of this chat; the current one where left out');
const stepId = z.string().min(1).max(20);
const descriptions = z.array(text(1000, 'One step, in a sentence')).min(1).max(MAX_STEPS);

/** The tools by which an agent makes a plan and follows it. They reach the plans of their own chat alone. */
export function planTools(plans: Plans): Tool[] {
  return [
    defineTool({
      name: 'plan_create',
      description:
        'Makes a plan for work of several steps, and begins with its first step. Call plan_update as each step is done; the next one then begins.',
      source: 'core',
      params: z.strictObject({
        goal: text(2000, 'What is to be reached'),
        steps: descriptions.describe('What is to be done, in order'),
        start: z.boolean().default(true).describe('False: the plan waits, for instance until the person has agreed'),
      }),
      run: async ({ goal, steps, start }, context) => shown(await plans.create(placeOf(context), goal, steps, start)),
    }),
    defineTool({
      name: 'plan_update',
      description:
        'Changes the plan: moves a step on, notes what came of it, rewrites it, or adds steps. When the running step is completed or skipped, the next one begins by itself.',
      source: 'core',
      params: z
        .strictObject({
          planId,
          stepId: stepId.optional().describe('The step that is meant; the current one where left out'),
          status: z.enum(['pending', 'running', 'completed', 'failed', 'skipped']).optional().describe('What the step becomes'),
          result: text(4000, 'What came of it, or why it failed').optional(),
          description: text(1000, 'The step in other words').optional(),
          goal: text(2000, 'The goal in other words').optional(),
          add: descriptions.optional().describe('More steps'),
          after: stepId.optional().describe('The step that they come behind; the last one where left out'),
        })
        .refine(
          ({ status, result, description, goal, add }) => [status, result, description, goal, add].some((value) => value !== undefined),
          'needs one of status, result, description, goal and add',
        ),
      run: async ({ planId: id, ...change }, context) => shown(await plans.update(placeOf(context), id, change)),
    }),
    defineTool({
      name: 'plan_get',
      description: 'A plan of this chat with all its steps.',
      source: 'core',
      params: z.strictObject({ planId }),
      async run({ planId: id }, context) {
        const place = placeOf(context);
        const plan = id === undefined ? plans.current(`${place.agentId}/${place.sessionId}`) : await plans.get(id);
        if (plan?.agentId !== place.agentId || plan.sessionId !== place.sessionId)
          throw new RpcError('NOT_FOUND', id === undefined ? 'This chat has no plan that is not completed' : `This chat has no plan ${id}`);
        return shown(plan);
      },
    }),
  ];
}

function placeOf({ agentId, sessionKey, runId }: ToolContext): PlanPlace {
  const sessionId = sessionKey?.split('/')[1];
  if (sessionId === undefined || runId === null) throw new RpcError('INVALID_PARAMS', 'A plan belongs to a chat, and this call is in none');
  return { agentId, sessionId, runId };
}

function shown(plan: Plan) {
  const { id, goal, status, steps } = plan;
  return {
    planId: id,
    goal,
    status,
    currentStep: currentStep(plan)?.id ?? null,
    steps: steps.map(({ id: step, description, status: state, result }) => ({
      id: step,
      status: state,
      description,
      ...(result ? { result } : {}),
    })),
  };
}
