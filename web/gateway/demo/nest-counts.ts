/** Nests at the lake by species, oldest of five years first. Each text of the demo about them uses these numbers. */
export const NEST_COUNTS = [
  { species: 'Grey heron', nests: [11, 12, 10, 13, 14], colour: '#5b7c99' },
  { species: 'Great egret', nests: [1, 2, 2, 3, 4], colour: '#c9a227' },
  { species: 'Bittern', nests: [1, 1, 0, 1, 2], colour: '#8a5a3b' },
  { species: 'Cormorant', nests: [6, 6, 6, 7, 9], colour: '#2f5d50' },
] as const;

/** All nests of each year. */
export const NEST_TOTALS: readonly number[] = [0, 1, 2, 3, 4].map((year) =>
  NEST_COUNTS.reduce((sum, { nests }) => sum + (nests[year] ?? 0), 0),
);

/** The five years of the counts, for a last one. */
export const getCountYears = (season: number): number[] => [4, 3, 2, 1, 0].map((before) => season - before);
