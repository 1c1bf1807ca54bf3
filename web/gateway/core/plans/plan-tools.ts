import { RpcError } from '#shared/rpc/errors.ts';
import type { Plan } from '#shared/rpc/methods/plan.ts';
import { z } from '#shared/rpc/zod.ts';
import { type ContentLabels, getLabelSources } from '../trust/labels.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool, ToolContext } from '../tools/registry.ts';
import type { PlanPlace, Plans } from './plans.ts';
import { currentStep, MAX_STEPS } from './steps.ts';

const text = (most: number, about: string) => z.string().trim().min(1).max(most).describe(about);
const planId = z.string().min(1).max(128).optional().describe('Default: the current plan');
const stepId = z.string().min(1).max(20);
const descriptions = z.array(text(1000, 'One step, in a sentence')).min(1).max(MAX_STEPS);

/** Tools with which an agent makes and follows plans. They only access plans of their own chat. */
export function planTools(plans: Plans, labels: ContentLabels): Tool[] {
  const labelled = async (plan: Plan, context: ToolContext) => {
    await labels.add('plan', plan.id, getLabelSources(context));
    return shown(plan);
  };
  return [
    defineTool({
      name: 'plan_create',
      title: 'Create plan',
      summary: 'Creates a plan with steps and starts it.',
      description: 'Makes a plan for work with several steps and starts the first one. Call plan_update when a step is done.',
      source: 'core',
      scope: 'automation',
      params: z.strictObject({
        goal: text(2000, 'What to achieve'),
        steps: descriptions.describe('The steps, in order'),
        start: z.boolean().default(true).describe('False to wait, such as for the user’s consent'),
      }),
      impact: 'adds',
      run: async ({ goal, steps, start }, context) => labelled(await plans.create(placeOf(context), goal, steps, start), context),
    }),
    defineTool({
      name: 'plan_update',
      title: 'Update plan',
      summary: 'Updates the steps or the goal of a plan.',
      description:
        'Updates a plan: status or result of a step, its text, the goal, or new steps. After a completed or skipped step the next one starts.',
      source: 'core',
      scope: 'automation',
      params: z
        .strictObject({
          planId,
          stepId: stepId.optional().describe('Default: the current step'),
          status: z.enum(['pending', 'running', 'completed', 'failed', 'skipped']).optional().describe('Of the step'),
          result: text(4000, 'Outcome, or why it failed').optional(),
          description: text(1000, 'New text of the step').optional(),
          goal: text(2000, 'New text of the goal').optional(),
          add: descriptions.optional().describe('Steps to add'),
          after: stepId.optional().describe('Where to add them. Default: at the end'),
        })
        .refine(
          ({ status, result, description, goal, add }) => [status, result, description, goal, add].some((value) => value !== undefined),
          'must include at least one of status, result, description, goal and add',
        ),
      // Progress on a plan is part of the run; changing its goal or steps instructs later runs.
      async impact({ planId, goal, description, add }, context) {
        if (goal === undefined && description === undefined && add === undefined) return 'adds';
        const { agentId, sessionId } = placeOf(context);
        const id = planId ?? plans.current(`${agentId}/${sessionId}`)?.id ?? '';
        return (await labels.getSources('plan', id)).length > 0 ? 'adds' : 'changes';
      },
      run: async ({ planId: id, ...change }, context) => labelled(await plans.update(placeOf(context), id, change), context),
    }),
    defineTool({
      name: 'plan_get',
      title: 'Read plan',
      summary: 'Reads a plan of the chat.',
      description: 'Reads a plan of this chat with its steps.',
      source: 'core',
      scope: 'automation',
      params: z.strictObject({ planId }),
      impact: 'reads',
      async run({ planId: id }, context) {
        const place = placeOf(context);
        const plan = id === undefined ? plans.current(`${place.agentId}/${place.sessionId}`) : await plans.get(id);
        if (plan?.agentId !== place.agentId || plan.sessionId !== place.sessionId)
          throw new RpcError('NOT_FOUND', id === undefined ? 'This chat has no open plan.' : `No plan with id "${id}" in this chat.`);
        context.taint?.add(await labels.getSources('plan', plan.id));
        return shown(plan);
      },
    }),
  ];
}

function placeOf({ agentId, sessionKey, runId }: ToolContext): PlanPlace {
  const sessionId = sessionKey?.split('/')[1];
  if (sessionId === undefined || runId === null) throw new RpcError('INVALID_PARAMS', 'Plans are only available in a chat.');
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
