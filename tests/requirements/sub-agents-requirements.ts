import { chosenSection } from './requirement.ts';

/** Agents that work for another agent's run. */
export const subAgents = [
  chosenSection('decisions, "Sub-agents"', {
    'subagents/context': 'A sub-agent is a session of its own that knows only its task; its caller gets its last answer.',
    'subagents/parallel': 'Several calls in one step run side by side, up to the limit; the others wait for their turn.',
    'subagents/limits': 'Depth and number are limited, and a refusal says so; a loop of agents ends by its depth.',
    'subagents/rights': 'A sub-agent never has more tools than its caller, and only agents named in the settings can be called.',
    'subagents/model': 'A copy uses the model of its caller, a named agent its own, and the call may choose a configured one.',
    'subagents/budget': 'A sub-agent keeps to its own budget and to all budgets of its caller, and returns what it has.',
    'subagents/cost': 'The reply shows its usage with that of its sub-agents; totals count each call once.',
    'subagents/stop': 'Stopping a reply stops its sub-agents; a stopped sub-agent returns that to its caller.',
    'subagents/steer': 'A person can send a message to a sub-agent that is working; a program cannot.',
    'subagents/taint':
      'What a sub-agent starts with and has read from outside is known to its caller and to itself; composed addresses stay so.',
    'subagents/approval': 'A call of a sub-agent asks once, and says which sub-agent asks.',
    'subagents/list': 'Sub-agents are not in the list of chats; `sessions.subAgents` lists them with what they do.',
    'subagents/delete': 'They are deleted, restored and exported with their chat.',
    'subagents/http': 'An agent called over `/v1` may use sub-agents; its usage includes theirs, and they end with the connection.',
    'subagents/interrupted': 'The results of sub-agents that had ended are kept if the host dies; the others are marked interrupted.',
    'subagents/app': 'The chat shows what each sub-agent does, and stops and steers it.',
  }),
];
