import { type StepResults, type Step, createStep } from './step.ts';

const addedId = (results: StepResults): string => results['memory.add']?.memory.id ?? 'none';
const changedId = (results: StepResults): string => results['memory.update']?.memory.id ?? 'none';
const agentId = 'none';
const date = '2026-11-22';

/** Steps for agents' memories. */
export const MEMORY_STEPS: readonly Step[] = [
  createStep('memory.add', { text: 'The kayak is in the barn', category: 'fact', createdAt: 1_763_800_000_000 }),
  createStep('memory.add', { text: 'Nothing', agentId }, 'NOT_FOUND'),
  createStep('memory.setPreference', { key: 'tone', value: 'friendly' }),
  createStep('memory.setPreference', { key: 'tone', value: 'friendly', agentId }, 'NOT_FOUND'),
  createStep('memory.preferences', {}),
  createStep('memory.preferences', { agentId }, 'NOT_FOUND'),
  createStep('memory.list', {}),
  createStep('memory.list', { category: 'preference' }),
  createStep('memory.list', { limit: 1 }),
  createStep('memory.list', { limit: 0 }, 'INVALID_PARAMS'),
  createStep('memory.list', { cursor: 'elsewhere' }, 'INVALID_PARAMS'),
  createStep('memory.list', { agentId }, 'NOT_FOUND'),
  createStep('memory.search', { query: 'Where is the boat?' }),
  createStep('memory.search', { query: 'boat', agentId }, 'NOT_FOUND'),
  createStep('memory.update', (results) => ({ id: addedId(results), text: 'The kayak is in the shed' })),
  createStep('memory.update', (results) => ({ id: changedId(results), text: 'tone: friendly' }), 'ALREADY_EXISTS'),
  createStep('memory.update', { id: 'none', text: 'Something' }, 'NOT_FOUND'),
  createStep('memory.stats', {}),
  createStep('memory.stats', { agentId }, 'NOT_FOUND'),
  createStep('memory.days', {}),
  createStep('memory.days', { agentId }, 'NOT_FOUND'),
  createStep('memory.day', { date }),
  createStep('memory.day', { date: '2026-02-30' }, 'INVALID_PARAMS'),
  createStep('memory.day', { date, agentId }, 'NOT_FOUND'),
  createStep('memory.summariseDay', { date: '2001-01-01' }),
  createStep('memory.summariseDay', { date, agentId }, 'NOT_FOUND'),
  createStep('memory.recalled', {}),
  createStep('memory.recalled', { agentId }, 'NOT_FOUND'),
  createStep('provenance.get', (results) => ({ kind: 'memory', name: changedId(results) })),
  createStep('provenance.get', { kind: 'claim', name: 'none' }, 'NOT_FOUND'),
  createStep('provenance.check', {}),
  createStep('provenance.check', { agentId }, 'NOT_FOUND'),
  createStep('memory.forget', (results) => ({ id: changedId(results) })),
  createStep('memory.forget', { id: 'none' }, 'NOT_FOUND'),
  createStep('memory.add', { text: 'The kayak is red' }),
  createStep('forgetting.preview', { query: 'kayak red' }),
  createStep('forgetting.preview', { memoryId: 'none' }, 'NOT_FOUND'),
  createStep('forgetting.preview', {}, 'INVALID_PARAMS'),
  createStep('forgetting.apply', (results) => ({
    query: 'kayak red',
    pieceIds: results['forgetting.preview']?.pieces.map(({ id }) => id).slice(0, 1) ?? ['none'],
  })),
  createStep('forgetting.apply', { memoryId: 'none', pieceIds: ['none'] }, 'NOT_FOUND'),
  createStep('forgetting.list', {}),
  createStep('memory.add', { text: 'Likes herons' }),
  createStep('memory.delete', (results) => ({ id: results['memory.add']?.memory.id ?? 'none' })),
  createStep('memory.delete', { id: 'none' }, 'NOT_FOUND'),
];
