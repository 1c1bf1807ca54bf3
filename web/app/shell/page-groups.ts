import AppWindow from '@lucide/svelte/icons/app-window';
import Archive from '@lucide/svelte/icons/archive';
import BookOpen from '@lucide/svelte/icons/book-open';
import BookOpenCheck from '@lucide/svelte/icons/book-open-check';
import Bot from '@lucide/svelte/icons/bot';
import Boxes from '@lucide/svelte/icons/boxes';
import Brain from '@lucide/svelte/icons/brain';
import CalendarClock from '@lucide/svelte/icons/calendar-clock';
import ChartColumn from '@lucide/svelte/icons/chart-column';
import Highlighter from '@lucide/svelte/icons/highlighter';
import ListTodo from '@lucide/svelte/icons/list-todo';
import MessagesSquare from '@lucide/svelte/icons/messages-square';
import Moon from '@lucide/svelte/icons/moon';
import RadioTower from '@lucide/svelte/icons/radio-tower';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import SquareTerminal from '@lucide/svelte/icons/square-terminal';
import SquareSlash from '@lucide/svelte/icons/square-slash';
import Stethoscope from '@lucide/svelte/icons/stethoscope';
import Wrench from '@lucide/svelte/icons/wrench';
import { m } from '../i18n/messages.ts';

/** Pages in the groups of the sidebar. `name` of a group is stored and independent of the language. */
export const getPageGroups = () => [
  {
    name: 'Knowledge',
    label: m.shell_group_knowledge(),
    pages: [
      { href: '/memory', label: m.shell_page_memory(), icon: Brain },
      { href: '/wiki', label: m.shell_page_wiki(), icon: BookOpen },
      { href: '/dreaming', label: m.shell_page_dreaming(), icon: Moon },
    ],
  },
  {
    name: 'Work',
    label: m.shell_group_work(),
    pages: [
      { href: '/sessions', label: m.shell_page_chats(), icon: MessagesSquare },
      { href: '/annotate', label: m.shell_page_annotate(), icon: Highlighter },
      { href: '/browser', label: m.shell_page_browser(), icon: AppWindow },
      { href: '/prompts', label: m.shell_page_prompts(), icon: SquareSlash },
      { href: '/schedules', label: m.shell_page_schedules(), icon: CalendarClock },
      { href: '/plans', label: m.shell_page_plans(), icon: ListTodo },
      { href: '/approvals', label: m.shell_page_approvals(), icon: ShieldCheck },
    ],
  },
  {
    name: 'Gateway',
    label: m.shell_group_gateway(),
    pages: [
      { href: '/agents', label: m.shell_page_agents(), icon: Bot },
      { href: '/channels', label: m.shell_page_channels(), icon: RadioTower },
      { href: '/models', label: m.shell_page_models(), icon: Boxes },
      { href: '/tools', label: m.shell_page_tools(), icon: Wrench },
      { href: '/skills', label: m.shell_page_skills(), icon: BookOpenCheck },
      { href: '/usage', label: m.shell_page_usage(), icon: ChartColumn },
      { href: '/logs', label: m.shell_page_logs(), icon: ScrollText },
      { href: '/doctor', label: m.shell_page_doctor(), icon: Stethoscope },
      { href: '/backups', label: m.shell_page_backups(), icon: Archive },
      { href: '/console', label: m.shell_page_console(), icon: SquareTerminal },
    ],
  },
];
