import { type Results, type Step, step } from './step.ts';

const addedId = (results: Results): string => results['memory.add']?.memory.id ?? 'none';
const changedId = (results: Results): string => results['memory.update']?.memory.id ?? 'none';
const agentId = 'none';
const date = '2026-11-22';

/** Steps for agents' memories. */
export const MEMORY_STEPS: readonly Step[] = [
  step('memory.add', { text: 'The kayak is in the barn', category: 'fact', createdAt: 1_763_800_000_000 }),
  step('memory.add', { text: 'Nothing', agentId }, 'NOT_FOUND'),
  step('memory.setPreference', { key: 'tone', value: 'friendly' }),
  step('memory.setPreference', { key: 'tone', value: 'friendly', agentId }, 'NOT_FOUND'),
  step('memory.preferences', {}),
  step('memory.preferences', { agentId }, 'NOT_FOUND'),
  step('memory.list', {}),
  step('memory.list', { category: 'preference' }),
  step('memory.list', { limit: 1 }),
  step('memory.list', { limit: 0 }, 'INVALID_PARAMS'),
  step('memory.list', { cursor: 'elsewhere' }, 'INVALID_PARAMS'),
  step('memory.list', { agentId }, 'NOT_FOUND'),
  step('memory.search', { query: 'Where is the boat?' }),
  step('memory.search', { query: 'boat', agentId }, 'NOT_FOUND'),
  step('memory.update', (results) => ({ id: addedId(results), text: 'The kayak is in the shed' })),
  step('memory.update', (results) => ({ id: changedId(results), text: 'tone: friendly' }), 'ALREADY_EXISTS'),
  step('memory.update', { id: 'none', text: 'Something' }, 'NOT_FOUND'),
  step('memory.stats', {}),
  step('memory.stats', { agentId }, 'NOT_FOUND'),
  step('memory.days', {}),
  step('memory.days', { agentId }, 'NOT_FOUND'),
  step('memory.day', { date }),
  step('memory.day', { date: '2026-02-30' }, 'INVALID_PARAMS'),
  step('memory.day', { date, agentId }, 'NOT_FOUND'),
  step('memory.summariseDay', { date: '2001-01-01' }),
  step('memory.summariseDay', { date, agentId }, 'NOT_FOUND'),
  step('memory.recalled', {}),
  step('memory.recalled', { agentId }, 'NOT_FOUND'),
  step('memory.forget', (results) => ({ id: changedId(results) })),
  step('memory.forget', { id: 'none' }, 'NOT_FOUND'),
];
