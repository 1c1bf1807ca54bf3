// The floor of the change log: transactions that note nothing (host.ts puts this in the place of web/gateway/storage/change-log.ts).
import type { Change, ChangeNotes as Noted } from '../../../web/gateway/storage/change-log.ts';

export * from '../../../web/gateway/storage/change-log.ts';

export class ChangeNotes implements Pick<Noted, 'changes' | 'note' | 'expect'> {
  readonly changes: Change[] = [];

  async note(): Promise<void> {}

  expect(): void {}
}
