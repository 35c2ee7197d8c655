import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * How the program runs its flows and tells the driver about each: one line with the flow's name, the outcome (ok,
 * failed), the milliseconds it took and what was wrong, separated by tabs; at last a line `end`.
 */
interface Flow {
    /** No flow waits longer than a few seconds on a healthy machine; it only bounds how long a broken one hangs. */
    int LIMIT_S = 30;
    List<String> PROGRAM = List.of("Values.java", "Events.java");

    void run() throws Exception;

    /** Runs the flows in order and says whether all were fine. */
    static boolean runAll(Map<String, Flow> flows) {
        boolean fine = true;
        for (Map.Entry<String, Flow> each : flows.entrySet()) {
            long begin = System.nanoTime();
            String reason = reasonOf(each.getValue());
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
            System.out.println(String.join("\t", each.getKey(), reason.isEmpty() ? "ok" : "failed",
                    Long.toString(tookMs), reason));
            fine &= reason.isEmpty();
        }
        System.out.println("end");
        return fine;
    }

    /** Why the flow failed, or nothing. */
    private static String reasonOf(Flow flow) {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                flow.run();
                outcome.complete("");
            } catch (Throwable error) {
                outcome.complete((error + " (" + placeOf(error) + ")").replaceAll("\\s+", " "));
            }
        });
        thread.setDaemon(true);
        thread.start();
        return outcome.completeOnTimeout("took over " + LIMIT_S + " s", LIMIT_S, TimeUnit.SECONDS).join();
    }

    /** The line of the program itself, not of the library below it. */
    private static String placeOf(Throwable error) {
        return Arrays.stream(error.getStackTrace()).filter(frame -> PROGRAM.contains(Objects.toString(frame.getFileName())))
                .map(frame -> frame.getFileName() + ":" + frame.getLineNumber()).findFirst().orElse("library");
    }

    static void same(Object actual, Object wanted) {
        if (!Objects.deepEquals(actual, wanted)) {
            throw new AssertionError(String.format("%.300s is not %.300s", actual, wanted));
        }
    }

    /** The call must fail with a text like this. */
    static void fails(String text, Callable<?> call) {
        try {
            call.call();
        } catch (Exception error) {
            StringWriter said = new StringWriter();
            error.printStackTrace(new PrintWriter(said));
            if (said.toString().contains(text)) {
                return;
            }
            throw new AssertionError(error + " does not say " + text, error);
        }
        throw new AssertionError("nothing failed with " + text);
    }

    /** Waits for something that another connection does. */
    static void eventually(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S / 2);
        for (; !condition.call(); Thread.sleep(10)) {
            if (System.nanoTime() > end) {
                throw new AssertionError(what + " did not happen");
            }
        }
    }

    /** Makes a call once the caller most likely waits for its outcome. */
    static void later(Callable<?> call) {
        CompletableFuture.runAsync(() -> {
            try {
                call.call();
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }, CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS));
    }
}
