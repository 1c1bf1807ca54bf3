import type { Settings } from '../../config/settings-schema.ts';
import type { Lazy } from '../../system/modules.ts';
import { isPerson } from '../../system/person.ts';
import type { RunTitles } from '../runs/run-types.ts';
import type { Titles } from './titles.ts';

interface RunTitlesDeps {
  titles: Lazy<Titles>;
  settings(): Settings;
  fault(error: unknown): unknown;
}

/** Titles of chats with a person, created in the background after the first reply of a model. */
export const createRunTitles = ({ titles, settings, fault }: RunTitlesDeps): RunTitles => ({
  onReply(run) {
    if (!settings().chat.titles || !isPerson(run.principal) || run.model.startsWith('guide/')) return;
    titles
      .load()
      .then((loaded) => loaded.createTitle(run))
      .catch(fault);
  },
});
