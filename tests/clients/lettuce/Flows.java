import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** Lettuce's own flows: Flows PORT PROTOCOL. */
public final class Flows {
    static RedisClient client;
    static int port;
    static int protocol;

    private Flows() {}

    public static void main(String[] arguments) {
        port = Integer.parseInt(arguments[0]);
        protocol = Integer.parseInt(arguments[1]);
        client = RedisClient.create(uri());
        client.setOptions(ClientOptions.builder()
                .protocolVersion(protocol == 3 ? ProtocolVersion.RESP3 : ProtocolVersion.RESP2).build());
        Map<String, Flow> flows = new LinkedHashMap<>();
        Values.addTo(flows);
        Events.addTo(flows);
        boolean fine = Flow.runAll(flows);
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        System.exit(fine ? 0 : 1);
    }

    static RedisURI uri() {
        return RedisURI.create("127.0.0.1", port);
    }
}
