import { type JobDraft, WORKDAYS } from '#lib/schedules/draft.ts';

/** Schedules to begin with. */
export const STARTERS: readonly { about: string; draft: Partial<JobDraft> }[] = [
  {
    about: 'A briefing each workday',
    draft: {
      ...{ name: 'Morning briefing', when: 'weekly', weekdays: [...WORKDAYS], time: '08:00' },
      message: 'Brief me for the day: what we left open yesterday, what is planned today, and what you remember that helps with it.',
    },
  },
  {
    about: 'A look back on Fridays',
    draft: {
      ...{ name: 'Weekly review', when: 'weekly', weekdays: [5], time: '16:00' },
      message: 'Look back on this week: what was decided, what was done, and what is still open. Keep it to ten lines.',
    },
  },
  {
    about: 'A check of the machine every day',
    draft: {
      ...{ name: 'Machine check', when: 'daily', time: '09:00' },
      message: 'Check how much room is left on the disks of this machine and how long it has been running. Say only what I should act on.',
    },
  },
];
