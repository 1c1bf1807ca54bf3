import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { SLOWEST_FIRST } from './suites.ts';

/** Vitest's order (slowest files of the last run first), with the files that always take longest before all others. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = SLOWEST_FIRST.indexOf(relative(this.ctx.config.root, moduleId));
      return at === -1 ? SLOWEST_FIRST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
