import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { Change } from '#shared/canvas/change.ts';
import { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { verifies } from '../requirements.ts';
import { testGateway, until } from '../support/gateway.ts';

const SHEET = { title: 'A plan', width: 640, height: 480 };
const rect = { x: 1, y: 2, width: 30, height: 40 };

/** A tab that shows a drawing of the gateway. */
async function tab(client: GatewayClient, drawingId: string) {
  const { drawing: entry, changes } = await client.call('drawings.open', { drawingId });
  const drawing = new Drawing(entry);
  drawing.merge(changes);
  const made: Change[] = [];
  drawing.onChange(({ own, changes: done }) => void (own && made.push(...done)));
  return { drawing, editor: new Editor(drawing), send: () => client.call('drawings.change', { drawingId, changes: made.splice(0) }) };
}

const changesOf = (events: readonly EventFrame[]): Change[] =>
  events.flatMap(({ event, payload }) => (event === 'drawing.changed' ? (payload.changes as Change[]) : []));

describe('drawings', () => {
  verifies('drawings/together', 'two connections see what the other does, and not what they did themselves', async () => {
    await using gw = await testGateway();
    const [a, b] = [await gw.client({ events: 'own' }), await gw.client({ events: 'own' })];
    const { id } = await a.client.call('drawings.create', SHEET);
    const [here, there] = [await tab(a.client, id), await tab(b.client, id)];
    const shape = here.editor.add('rect', rect);
    expect(await here.send()).toEqual({ stored: 1 });
    await until(() => changesOf(b.events).length === 1);
    there.drawing.merge(changesOf(b.events));
    expect(there.drawing.shapes).toEqual(here.drawing.shapes);
    there.editor.set(shape.id, { x: 99 });
    await there.send();
    await until(() => changesOf(a.events).length === 1);
    here.drawing.merge(changesOf(a.events));
    expect(here.drawing.shape(shape.id)).toMatchObject({ x: 99, y: 2 });
    expect(changesOf(b.events)).toHaveLength(1);
    await b.client.call('drawings.close', { drawingId: id });
    here.editor.set(shape.id, { y: 5 });
    await here.send();
    expect(changesOf(b.events)).toHaveLength(1);
    expect((await tab(b.client, id)).drawing.shapes).toEqual(here.drawing.shapes);
  });
});
