import { m } from '#app/i18n/messages.ts';
import { type JobDraft, WORKDAYS } from './job-draft.ts';

/** Templates of schedules. */
export const getScheduleStarters = (): { about: string; draft: Partial<JobDraft> }[] => [
  {
    about: m.schedules_starter_briefing(),
    draft: {
      ...{ name: m.schedules_starter_briefing_name(), when: 'weekly', weekdays: [...WORKDAYS], time: '08:00' },
      message: m.schedules_starter_briefing_message(),
    },
  },
  {
    about: m.schedules_starter_review(),
    draft: {
      ...{ name: m.schedules_starter_review_name(), when: 'weekly', weekdays: [5], time: '16:00' },
      message: m.schedules_starter_review_message(),
    },
  },
  {
    about: m.schedules_starter_check(),
    draft: {
      ...{ name: m.schedules_starter_check_name(), when: 'daily', time: '09:00' },
      message: m.schedules_starter_check_message(),
    },
  },
];
