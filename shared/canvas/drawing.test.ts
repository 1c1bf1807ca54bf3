import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { type Change, parseChanges } from './change.ts';
import { Drawing } from './drawing.ts';
import { Editor } from './editor.ts';
import { kindArbitrary, SAMPLES } from './shape-samples.ts';

const createDrawing = (origin = 'here', now = () => 1000): Drawing => new Drawing({ width: 200, height: 100, origin, now });
const getState = ({ page, shapes }: Drawing): unknown => structuredClone({ page, shapes });

const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('add' as const), kind: kindArbitrary }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      at: fc.nat(),
      hidden: fc.boolean(),
      gesture: fc.constantFrom(undefined, 'drag'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), at: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      at: fc.nat(),
      where: fc.constantFrom('front', 'back', 'forward', 'backward'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('page' as const), width: fc.integer({ min: 1, max: 500 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('several' as const), kind: kindArbitrary }) },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** Does it; returns whether it was something to do. */
function applyAction(editor: Editor, edit: Action): boolean {
  const { shapes } = editor.drawing;
  const target = 'at' in edit ? shapes[edit.at % Math.max(1, shapes.length)]?.id : undefined;
  switch (edit.do) {
    case 'add':
      editor.add(edit.kind, SAMPLES[edit.kind]);
      return true;
    case 'page':
      editor.setPage({ width: edit.width });
      return true;
    case 'several':
      editor.step(() => {
        const { id } = editor.add(edit.kind, SAMPLES[edit.kind]);
        editor.add('marker', SAMPLES.marker);
        editor.set(id, { locked: true });
      });
      return true;
  }
  if (target === undefined) return false;
  if (edit.do === 'set') editor.set(target, { hidden: edit.hidden }, edit.gesture && `${edit.gesture} ${target} ${shapes.length}`);
  else if (edit.do === 'remove') editor.remove([target]);
  else editor.move([target], edit.where);
  return true;
}

verifies('canvas.list/undo', 'any steps, undone and done again in any order, show what a list of snapshots shows', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(action, fc.constantFrom('undo' as const, 'redo' as const)), { maxLength: 40 }), (steps) => {
      const editor = new Editor(createDrawing());
      const snapshots = [getState(editor.drawing)];
      let now = 0;
      let gesture: string | undefined;
      for (const step of steps) {
        if (step === 'undo') {
          expect(editor.undo()).toBe(now > 0);
          now = Math.max(0, now - 1);
          gesture = undefined;
        } else if (step === 'redo') {
          expect(editor.redo()).toBe(now < snapshots.length - 1);
          now = Math.min(snapshots.length - 1, now + 1);
          gesture = undefined;
        } else {
          const { shapes } = editor.drawing;
          const mine =
            step.do === 'set' && step.gesture ? `${shapes[step.at % Math.max(1, shapes.length)]?.id} ${shapes.length}` : undefined;
          if (!applyAction(editor, step)) continue;
          // One gesture is one step, as long as nothing comes between.
          if (!(mine !== undefined && mine === gesture)) now++;
          gesture = mine;
          snapshots.length = now;
          snapshots.push(getState(editor.drawing));
        }
        expect(getState(editor.drawing)).toEqual(snapshots[now]);
        expect([editor.canUndo, editor.canRedo]).toEqual([now > 0, now < snapshots.length - 1]);
      }
    }),
    { numRuns: 150 },
  );
});

verifies('canvas.list/merge', 'three who draw at once see the same, in whatever order and how often they hear of it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(2), fc.oneof(action, fc.constantFrom('undo' as const, 'redo' as const)), fc.boolean()), { maxLength: 40 }),
      fc.infiniteStream(fc.nat(9)),
      (steps, draws) => {
        const editors = ['a', 'b', 'c'].map((origin) => new Editor(createDrawing(origin)));
        const sent: Change[] = [];
        for (const { drawing: each } of editors) each.onChange(({ changes, own }) => void (own && sent.push(...changes)));
        for (const [editorIndex, step, share] of steps) {
          const editor = editors[editorIndex] ?? expect.fail();
          if (step === 'undo') editor.undo();
          else if (step === 'redo') editor.redo();
          else applyAction(editor, step);
          // Some of it is heard by all at once, the rest later.
          if (share) for (const { drawing: each } of editors) each.merge(sent.filter((_, at) => at % 2 === 0));
        }
        for (const { drawing: each } of editors) {
          const mixed = [...sent, ...sent].map((change) => ({ change, at: draws.next().value })).sort((a, b) => a.at - b.at);
          for (const { change } of mixed) each.merge(parseChanges(JSON.parse(JSON.stringify([change]))));
        }
        const [one, ...others] = editors.map((editor) => getState(editor.drawing));
        for (const other of others) expect(other).toEqual(one);
        const late = createDrawing('late');
        late.merge(editors[0]?.drawing.history() ?? []);
        expect(getState(late)).toEqual(one);
      },
    ),
    { numRuns: 100 },
  );
});

verifies('canvas.list/undo', 'a drag is one step, but not beyond a step that was taken back', () => {
  const editor = new Editor(createDrawing());
  const { id } = editor.add('rect', SAMPLES.rect);
  for (const x of [1, 2, 3]) editor.set<'rect'>(id, { x }, 'drag');
  editor.add('line', SAMPLES.line);
  editor.undo();
  editor.set<'rect'>(id, { x: 4 }, 'drag');
  expect(editor.canRedo).toBe(false);
  editor.undo();
  expect(editor.drawing.shape(id)).toMatchObject({ x: 3 });
  editor.undo();
  expect(editor.drawing.shape(id)).toMatchObject({ x: 10 });
});

verifies('canvas.list/undo', 'undo keeps changes that others made meanwhile', () => {
  const [ana, ben] = [new Editor(createDrawing('ana')), new Editor(createDrawing('ben', () => 2000))];
  ana.drawing.onChange(({ changes, own }) => own && ben.drawing.merge(changes));
  ben.drawing.onChange(({ changes, own }) => own && ana.drawing.merge(changes));
  const { id } = ana.add('rect', { ...SAMPLES.rect, color: '#ff0000' });
  ana.set<'rect'>(id, { color: '#00ff00', x: 70 });
  ben.set<'rect'>(id, { color: '#0000ff' });
  ana.undo();
  for (const { drawing: each } of [ana, ben]) expect(each.shape(id)).toMatchObject({ x: 10, color: '#0000ff' });
  ana.redo();
  expect(ben.drawing.shape(id)).toMatchObject({ x: 70, color: '#0000ff' });
});

verifies('canvas.list/order', 'shapes move among the others, and their order among themselves stays', () => {
  const editor = new Editor(createDrawing());
  const ids = Array.from({ length: 5 }, () => editor.add('rect', SAMPLES.rect).id);
  const order = (): string => editor.drawing.shapes.map(({ id }) => ids.indexOf(id)).join('');
  editor.move([ids[3] ?? '', ids[1] ?? ''], 'front');
  expect(order()).toBe('02413');
  editor.move([ids[3] ?? '', ids[1] ?? ''], 'back');
  expect(order()).toBe('13024');
  editor.move([ids[0] ?? ''], 'forward');
  expect(order()).toBe('13204');
  editor.move([ids[0] ?? ''], 'backward');
  expect(order()).toBe('13024');
  editor.move([ids[1] ?? ''], 'backward');
  editor.move([ids[4] ?? ''], 'forward');
  expect(order()).toBe('13024');
});
