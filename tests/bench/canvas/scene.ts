/** A shape to draw, in a format that both contestants convert. */
export type SceneShape =
  | { kind: 'rect'; x: number; y: number; width: number; height: number; color: string; fill: boolean }
  | { kind: 'ellipse'; cx: number; cy: number; rx: number; ry: number; color: string; fill: boolean }
  | { kind: 'line'; x1: number; y1: number; x2: number; y2: number; color: string }
  | { kind: 'polygon'; points: [number, number][]; color: string }
  | { kind: 'curve'; at: [number, number]; by: [number, number]; to: [number, number]; color: string }
  | { kind: 'text'; x: number; y: number; text: string; color: string };

export const SHEET_SIZE = { width: 1920, height: 1080 };

/** Creates a random number generator from 0 to 1 with a fixed seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Creates shapes of alternating kinds all over the page. */
export function createScene(count: number, seed = 8): SceneShape[] {
  const next = createRandom(seed);
  return Array.from({ length: count }, (_, nth): SceneShape => {
    const [x, y] = [next() * (SHEET_SIZE.width - 80), next() * (SHEET_SIZE.height - 80)];
    const [width, height] = [10 + next() * 60, 10 + next() * 60];
    const color = `#${Math.floor(next() * 0xffffff)
      .toString(16)
      .padStart(6, '0')}`;
    switch (nth % 6) {
      case 0:
        return { kind: 'rect', x, y, width, height, color, fill: next() < 0.5 };
      case 1:
        return { kind: 'ellipse', cx: x + width / 2, cy: y + height / 2, rx: width / 2, ry: height / 2, color, fill: next() < 0.5 };
      case 2:
        return { kind: 'line', x1: x, y1: y, x2: x + width, y2: y + height, color };
      case 3: {
        const points: [number, number][] = [
          [x, y],
          [x + width, y + height / 3],
          [x + width / 2, y + height],
        ];
        return { kind: 'polygon', points, color };
      }
      case 4:
        return { kind: 'curve', at: [x, y], by: [x + width, y], to: [x + width, y + height], color };
      default:
        return { kind: 'text', x, y, text: `note ${nth}`, color };
    }
  });
}
