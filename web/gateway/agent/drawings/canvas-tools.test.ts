import { describe, expect } from 'vitest';
import { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { type ModelCall, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const getLastResult = ({ body }: ModelCall): string => String(body.messages.filter(({ role }) => role === 'tool').at(-1)?.content ?? '');

const getAllResults = ({ body }: ModelCall): string[] =>
  body.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));

/** A person's drawing with something secret under a redaction. */
function createCoveredDrawing() {
  const drawing = new Drawing({ width: 400, height: 300 });
  const editor = new Editor(drawing);
  const secret = editor.add('text', { x: 20, y: 20, text: 'SECRET-ONE' });
  const redaction = editor.add('redaction', { x: 10, y: 10, width: 30, height: 60 });
  const marker = editor.add('marker', { x: 200, y: 200, label: '1', note: 'Look here' });
  const hidden = editor.add('text', { x: 20, y: 250, text: 'SECRET-TWO', hidden: true });
  const plainText = editor.add('text', { x: 900, y: 20, text: 'SECRET-THREE' });
  return { changes: drawing.history(), secret, redaction, marker, hidden, beside: plainText };
}

describe('agents and drawings', () => {
  verifies(['drawings/tools', 'drawings/covered'], 'an agent sees what is visible, draws live, and reveals nothing hidden', async () => {
    const fixture = createCoveredDrawing();
    let drawingId = '';
    const results: string[] = [];
    /** One call a turn at first, then several. */
    const plan = (): { tool: string; args: unknown }[] => [
      { tool: 'canvas_open', args: {} },
      { tool: 'canvas_open', args: { drawingId } },
      { tool: 'canvas_draw', args: { drawingId, add: [{ kind: 'arrow', x1: 10, y1: 100, x2: 190, y2: 195 }] } },
      { tool: 'canvas_draw', args: { drawingId, add: [{ kind: 'rect', x: 10, y: 100 }] } },
      { tool: 'canvas_draw', args: { drawingId, add: [{ kind: 'polygon', points: [] }] } },
      ...[fixture.redaction, fixture.secret, fixture.hidden, fixture.beside].flatMap(({ id }) => [
        { tool: 'canvas_draw', args: { drawingId, remove: [id] } },
        { tool: 'canvas_draw', args: { drawingId, change: [{ id, x: 100 }] } },
      ]),
      { tool: 'canvas_open', args: { drawingId } },
    ];
    await using gw = await createTestGateway({
      model: (call, count) => {
        results.splice(0, results.length, ...getAllResults(call));
        if (count <= 5) return plan().slice(count - 1, count);
        return count === 6 ? plan().slice(5) : ['Done.'];
      },
    });
    const { client, events } = await gw.client();
    await client.call('config.patch', { patch: { tools: { policies: { canvas_draw: 'auto' } } } });
    ({ id: drawingId } = await client.call('drawings.create', { title: 'Mine', width: 400, height: 300, changes: fixture.changes }));
    await client.call('drawings.open', { drawingId });
    await client.call('chat.send', { message: 'Point at it' });
    const [list, opened, drawn, wrong, empty, ...rest] = results;
    expect(list).toContain('Mine');
    expect(opened).toContain('Look here');
    const changeEvents = events.filter(({ event }) => event === 'drawing.changed');
    expect(changeEvents).toHaveLength(1);
    expect(JSON.stringify(changeEvents)).toContain('"kind":"arrow"');
    expect(drawn).toMatch(/agent_[0-9a-f-]{36}/);
    expect(wrong).toContain('add.0.width');
    expect(empty).toContain('`add.0.points` must have at least 2 items');
    const last = rest.pop();
    expect(last).toContain('arrow');
    for (const refused of rest) expect(refused).toMatch(/can’t change redactions|No shape with id/);
    expect(rest).toHaveLength(8);
    expect(JSON.stringify(gw.calls.map(({ body }) => body.messages))).not.toContain('SECRET');
    const after = await client.call('drawings.open', { drawingId });
    expect(after.changes).toHaveLength(fixture.changes.length + 1);
  });

  verifies('drawings/tools', 'removing a person’s shapes needs approval; removing an agent’s own does not', async () => {
    const { changes, marker } = createCoveredDrawing();
    const results: string[] = [];
    let drawingId = '';
    await using gw = await createTestGateway({
      model: (call, count) => {
        if (count > 1) results.push(getLastResult(call));
        const own = /agent_[0-9a-f-]{36}/.exec(results[0] ?? '')?.[0];
        return [
          [
            { tool: 'canvas_draw', args: { drawingId, add: [{ kind: 'line', x1: 100, y1: 100, x2: 150, y2: 150 }] } },
            { tool: 'canvas_draw', args: { drawingId, remove: [own] } },
            { tool: 'canvas_draw', args: { drawingId, remove: [marker.id] } },
          ][count - 1] ?? 'Done.',
        ];
      },
    });
    const { client } = await gw.client();
    ({ id: drawingId } = await client.call('drawings.create', { width: 400, height: 300, changes }));
    const pendingSend = client.call('chat.send', { message: 'Tidy up' });
    await waitFor(async () => (await client.call('approvals.list', {})).approvals.length === 1);
    expect(results).toHaveLength(2);
    expect(results[1]).toContain('"removed":1');
    const [approval] = (await client.call('approvals.list', {})).approvals;
    expect(approval?.summary).toBe('Remove a shape from a drawing');
    await client.call('approvals.resolve', { id: approval?.id ?? '', decision: 'deny' });
    await pendingSend;
    const { changes: remainingChanges } = await client.call('drawings.open', { drawingId });
    expect(remainingChanges.filter(({ id, set }) => id === marker.id && set.removed === true)).toEqual([]);
  });
});
