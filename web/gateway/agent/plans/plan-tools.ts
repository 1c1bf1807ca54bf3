import type { DeliverOptions } from '#shared/rpc/delivery-target.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Plan } from '#shared/rpc/methods/plan-contracts.ts';
import { z } from '#shared/rpc/zod.ts';
import { findDestination } from '../../config/find-destination.ts';
import type { Settings } from '../../config/settings-schema.ts';
import { type ContentLabels, getLabelSources } from '../trust/content-labels.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool, ToolContext } from '../tools/tool-registry.ts';
import type { PlanRun, Plans } from './plans.ts';
import { getCurrentStep, MAX_PLAN_STEPS } from './plan-steps.ts';

const toTextParam = (maxChars: number, description: string) => z.string().trim().min(1).max(maxChars).describe(description);
const planId = z.string().min(1).max(128).optional().describe('Default: the current plan');
const stepId = z.string().min(1).max(20);
const deliverTo = z
  .array(z.string().min(1).max(128))
  .max(10)
  .optional()
  .describe('Names of destinations of the owner that are told how the plan ends, or that it waits; empty for none');
const descriptions = z.array(toTextParam(1000, 'One step, in a sentence')).min(1).max(MAX_PLAN_STEPS);

/** Tools with which an agent makes and follows plans. They only access plans of their own chat. */
export function planTools(plans: Plans, labels: ContentLabels, settings: () => Pick<Settings, 'deliveries'>): Tool[] {
  /** Throws `INVALID_PARAMS` for an unknown destination. */
  const toDeliver = (names: readonly string[] | undefined, { principal }: ToolContext): DeliverOptions | null | undefined => {
    if (names === undefined) return undefined;
    const { targets } = settings().deliveries;
    const to = [...new Set(names.map((name) => findDestination(targets, name, principal).id))];
    return to.length === 0 ? null : { to, when: 'always' };
  };
  const labelPlan = async (plan: Plan, context: ToolContext) => {
    await labels.add('plan', plan.id, getLabelSources(context));
    return toPlanResult(plan);
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
        goal: toTextParam(2000, 'What to achieve'),
        steps: descriptions.describe('The steps, in order'),
        start: z.boolean().default(true).describe('False to wait, such as for the user’s consent'),
        deliverTo,
      }),
      // Destinations are sent what the plan says.
      impact: async ({ deliverTo: names = [] }) => (names.length > 0 ? 'changes' : 'adds'),
      run: async ({ deliverTo: names, ...plan }, context) =>
        labelPlan(await plans.create(requirePlanRun(context), { ...plan, deliver: toDeliver(names, context) ?? undefined }), context),
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
          result: toTextParam(4000, 'Outcome, or why it failed').optional(),
          description: toTextParam(1000, 'New text of the step').optional(),
          goal: toTextParam(2000, 'New text of the goal').optional(),
          add: descriptions.optional().describe('Steps to add'),
          after: stepId.optional().describe('Where to add them. Default: at the end'),
          deliverTo,
        })
        .refine(
          ({ planId: _, stepId: __, after: ___, ...changes }) => Object.values(changes).some((value) => value !== undefined),
          'must include at least one of status, result, description, goal, add and deliverTo',
        ),
      // Progress on a plan is part of the run; changing its goal or steps instructs later runs.
      async impact({ planId, goal, description, add, deliverTo: names = [] }, context) {
        if (names.length > 0) return 'changes';
        if (goal === undefined && description === undefined && add === undefined) return 'adds';
        const { agentId, sessionId } = requirePlanRun(context);
        const id = planId ?? plans.getCurrent(`${agentId}/${sessionId}`)?.id ?? '';
        return (await labels.getSources('plan', id)).length > 0 ? 'adds' : 'changes';
      },
      run: async ({ planId: id, deliverTo: names, ...change }, context) =>
        labelPlan(await plans.update(requirePlanRun(context), id, { ...change, deliver: toDeliver(names, context) }), context),
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
        const planRun = requirePlanRun(context);
        const plan = id === undefined ? plans.getCurrent(`${planRun.agentId}/${planRun.sessionId}`) : await plans.get(id);
        if (plan?.agentId !== planRun.agentId || plan.sessionId !== planRun.sessionId)
          throw new RpcError('NOT_FOUND', id === undefined ? 'This chat has no open plan.' : `No plan with id "${id}" in this chat.`);
        context.taint?.add(await labels.getSources('plan', plan.id));
        return toPlanResult(plan);
      },
    }),
  ];
}

function requirePlanRun({ agentId, sessionKey, runId }: ToolContext): PlanRun {
  const sessionId = sessionKey?.split('/')[1];
  if (sessionId === undefined || runId === null) throw new RpcError('INVALID_PARAMS', 'Plans are only available in a chat.');
  return { agentId, sessionId, runId };
}

function toPlanResult(plan: Plan) {
  const { id, goal, status, steps } = plan;
  return {
    planId: id,
    goal,
    status,
    currentStep: getCurrentStep(plan)?.id ?? null,
    steps: steps.map(({ id: step, description, status: state, result }) => ({
      id: step,
      status: state,
      description,
      ...(result ? { result } : {}),
    })),
  };
}
